/** Strategic merge patches to a running server: objects, subresources, every version, and refusals. */
import t from 'tap'
import Fastify from '../fastify.js'
import { server as orch } from '../../app.js'
import { fromStructural } from '../../schemas/custom/declaration.js'
import { resource } from '../../schemas/resource.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { client, build, type Client, type Json, type Answer } from '../build.js'
import { SAMPLES } from '../samples.js'
import { polled } from '../polled.js'

const STRATEGIC = 'application/strategic-merge-patch+json'
const ALL = { api: { disabled: [] } }
const core = (plural: string): string => `/api/v1/namespaces/default/${plural}`
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'

async function created (server: Client, url: string, body: Json): Promise<string> {
  const { code, json } = await server.post(url, body)
  if (code !== 201) throw new Error(JSON.stringify(json))
  return `${url}/${json.metadata.name as string}`
}
const sample = (key: string, more: Json = {}): Json => ({ ...SAMPLES[key], metadata: { name: 'one', ...more } })

/** The object after a patch. */
async function patched (server: Client, url: string, patch: Json): Promise<Json> {
  const { code, json, headers } = await server.patch(url, patch, STRATEGIC)
  if (code !== 200) throw new Error(JSON.stringify(json))
  if (/unknown|duplicate/.test(String(headers['warning']))) throw new Error(String(headers['warning']))
  return json
}

t.test('a deployment is patched as kubectl does it', async t => {
  const server = await build(t, ALL)
  const url = await created(server, DEPLOYMENTS, sample('apps/deployments'))
  const image = await patched(server, url, {
    spec: {
      template: {
        spec: { '$setElementOrder/containers': [{ name: 'web' }], containers: [{ name: 'web', image: 'nginx:2' }] }
      }
    }
  })
  t.match(image, {
    spec: {
      replicas: 2,
      template: {
        spec: {
          containers: [
            {
              name: 'web',
              image: 'nginx:2',
              ports: [{ containerPort: 80, protocol: 'TCP' }],
              resources: { requests: { cpu: '100m' } }
            }
          ]
        }
      }
    }
  })
  t.match(
    await patched(server, url, { spec: { replicas: 5, template: { metadata: { annotations: { at: 'now' } } } } }),
    { spec: { replicas: 5, template: { metadata: { labels: { app: 'web' }, annotations: { at: 'now' } } } } }
  )

  t.match(image.spec.strategy, { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } })
  t.strictSame(
    (await patched(server, url, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } })).spec.strategy,
    { type: 'Recreate' }
  )
  const defaulted = (await patched(server, url, { spec: { strategy: { $patch: 'delete' }, replicas: null } })).spec
  t.match(defaulted, { replicas: 1, strategy: { type: 'RollingUpdate' } }, 'removed fields are defaulted')

  const sidecar = await patched(server, url, {
    spec: {
      template: {
        spec: {
          containers: [{ name: 'log', image: 'log:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
          volumes: [{ name: 'data', emptyDir: {} }]
        }
      }
    }
  })
  t.strictSame(sidecar.spec.template.spec.containers.map(({ name }: Json) => name as string), ['log', 'web'])
  const without = await patched(server, url, {
    spec: {
      template: {
        spec: { containers: [{ name: 'log', $patch: 'delete' }], volumes: [{ name: 'data', $patch: 'delete' }] }
      }
    }
  })
  t.strictSame(without.spec.template.spec.containers.map(({ name }: Json) => name as string), ['web'])
  t.notOk('volumes' in without.spec.template.spec)

  t.equal(
    (await patched(server, url, {})).metadata.resourceVersion, without.metadata.resourceVersion,
    'an empty patch writes nothing'
  )
})

t.test('metadata of a pod, a service and the data of a config map are patched', async t => {
  const server = await build(t, ALL)
  const pod = await created(
    server, core('pods'), sample('/pods', { labels: { a: '1', b: '2' }, finalizers: ['x.test/one', 'x.test/two'] })
  )
  t.match((await patched(server, pod, {
    metadata: {
      labels: { a: null, c: '3' },
      annotations: { note: 'x' },
      '$deleteFromPrimitiveList/finalizers': ['x.test/one'],
      finalizers: ['x.test/three'],
      '$setElementOrder/finalizers': ['x.test/two', 'x.test/three']
    }
  })).metadata, {
    labels: { b: '2', c: '3' }, annotations: { note: 'x' }, finalizers: ['x.test/two', 'x.test/three']
  })
  const service = await created(server, core('services'), sample('/services'))
  t.match(
    (await patched(server, service, {
      spec: { ports: [{ port: 443, name: 'https' }, { port: 80, name: 'http' }] }
    })).spec.ports,
    [{ port: 443, name: 'https', protocol: 'TCP' }, { port: 80, name: 'http', targetPort: 'http' }]
  )
  const config = await created(server, core('configmaps'), sample('/configmaps'))
  t.strictSame((await patched(server, config, { data: { key: null, a: '1' } })).data, { a: '1' })
  t.strictSame((await patched(server, config, { data: { $patch: 'replace', b: '2' } })).data, { b: '2' })
  t.notOk('data' in await patched(server, config, { data: { $patch: 'delete' } }))
})

t.test('the node agent reports conditions through the status, which changes nothing else', async t => {
  const server = await build(t, ALL)
  const url = await created(server, '/api/v1/nodes', sample('/nodes'))
  const conditions = ['MemoryPressure', 'DiskPressure', 'Ready'].map(type => ({ type, status: 'False' }))
  await patched(server, `${url}/status`, {
    status: { conditions, addresses: [{ type: 'Hostname', address: 'one' }], capacity: { cpu: '4', memory: '8Gi' } }
  })
  const ready = await patched(server, `${url}/status`, {
    metadata: { labels: { not: 'kept' } },
    spec: { unschedulable: true },
    status: {
      '$setElementOrder/conditions': conditions.map(({ type }) => ({ type })),
      conditions: [{ type: 'Ready', status: 'True' }],
      capacity: { cpu: '8' }
    }
  })
  t.match(ready.status, {
    conditions: [{ type: 'MemoryPressure' }, { type: 'DiskPressure' }, { type: 'Ready', status: 'True' }],
    addresses: [{ address: 'one' }],
    capacity: { cpu: '8', memory: '8Gi' }
  })
  t.notOk(ready.spec.unschedulable, 'the spec is not the status')
  const unready = await patched(server, url, { status: { conditions: [{ type: 'Ready', status: 'False' }] } })
  t.notOk(
    unready.status.conditions.some(({ type, status }: Json) => type === 'Ready' && status !== 'True'),
    'and the other way about'
  )
})

t.test('scale is patched', async t => {
  const server = await build(t, ALL)
  const url = await created(server, DEPLOYMENTS, sample('apps/deployments'))
  t.match(await patched(server, `${url}/scale`, { spec: { replicas: 7 } }), { kind: 'Scale', spec: { replicas: 7 } })
  t.equal((await server.get(url)).json.spec.replicas, 7)
})

t.test('a patch is made to the object in the version of the URL', async t => {
  const server = await build(t, ALL)
  const v1 = await created(
    server, '/apis/policy/v1/namespaces/default/poddisruptionbudgets', sample('policy/poddisruptionbudgets')
  )
  const v1beta1 = v1.replace('/v1/', '/v1beta1/')
  const { matchLabels } = (await server.get(v1)).json.spec.selector
  const merged = await patched(server, v1beta1, { spec: { selector: { matchLabels: { more: 'x' } } } })
  t.match(merged, { apiVersion: 'policy/v1beta1', spec: { selector: { matchLabels: { ...matchLabels, more: 'x' } } } })
  t.match(
    (await patched(server, v1, { spec: { selector: { matchLabels: { other: 'x' } } } })).spec.selector,
    { matchLabels: { other: 'x', more: undefined } }, 'in v1 the selector is replaced'
  )
})

t.test('a patch cannot change immutable parts of an object', async t => {
  const server = await build(t, ALL)
  const url = await created(server, core('configmaps'), sample('/configmaps'))
  const before = (await server.get(url)).json
  const refused = async (patch: unknown, code: number, message: RegExp, path = url): Promise<void> => {
    t.match(
      await server.patch(path, patch, STRATEGIC), { code, json: { kind: 'Status', message } }, JSON.stringify(patch)
    )
  }
  await refused(
    { metadata: { name: 'two' } }, 400, /^the name of the object \(two\) does not match the name on the URL \(.*\)$/
  )
  await refused(
    { metadata: { namespace: 'other' } }, 400,
    /^the namespace of the provided object does not match the namespace sent on the request$/
  )
  await refused({ metadata: { uid: 'other' } }, 422, /metadata\.uid: Invalid value/)
  await refused({ metadata: { resourceVersion: '1' } }, 409, /has been modified/)
  await refused({ $patch: 'delete' }, 400, /based on URL\) was undeterminable: name must be provided$/)
  t.equal(
    (await server.patch(url, { metadata: { namespace: null } }, STRATEGIC)).code, 200,
    'without a namespace it is in that of the URL'
  )
  t.match(await server.patch(url, { kind: 'Secret' }, STRATEGIC), { code: 200, json: { kind: 'ConfigMap' } })
  await refused([], 400, /must be an object/)
  await refused('null', 400, /must be an object/)
  await refused('{', 400, /not valid JSON/)
  await refused('', 400, /empty/)
  await refused({ data: { a: 1 } }, 422, /data\.a: expected a string/)
  await refused({ data: { 'a b': 'x' } }, 422, /data/)
  await refused({ metadata: { $retainKeys: true } }, 400, /malformed: metadata: "\$retainKeys" must be a list/)
  await refused({ metadata: { finalizers: ['a/b'], ownerReferences: [{ name: 'x' }] } }, 422, /ownerReferences/)
  await refused({}, 404, /"none" not found/, `${core('configmaps')}/none`)
  await refused({}, 422, /force/, `${url}?force=true`)
  await refused({ other: 1 }, 422, /strict decoding error: unknown field "other"/, `${url}?fieldValidation=Strict`)
  await refused(
    '{"data":{"a":"1","a":"2"}}', 422, /strict decoding error: duplicate field "data.a"/,
    `${url}?fieldValidation=Strict`
  )
  const warned = await server.patch(`${url}?dryRun=All`, { other: 1, data: { $retainKeys: ['key'] } }, STRATEGIC)
  t.match(warned, { code: 200, headers: { warning: /unknown field \\?"other\\?"/ } })
  t.notMatch(warned.headers['warning'], /retainKeys/, 'directives are known')
  t.strictSame((await server.get(url)).json, before)
  const whole = await patched(server, url, {
    $patch: 'replace', metadata: { name: 'one', namespace: 'default', labels: { a: 'b' } }
  })
  t.match(whole, {
    metadata: { uid: before.metadata.uid, creationTimestamp: before.metadata.creationTimestamp, labels: { a: 'b' } }
  })
  t.notOk('data' in whole)
})

t.test('concurrent patches all take effect', async t => {
  const server = await build(t, ALL)
  const url = await created(server, DEPLOYMENTS, sample('apps/deployments'))
  const codes = await Promise.all(Array.from(
    { length: 40 },
    async (_, at) => (await server.patch(
      url, { spec: { template: { spec: { containers: [{ name: 'web', env: [{ name: `V${at}`, value: 'x' }] }] } } } },
      STRATEGIC
    )).code
  ))
  t.ok(codes.every(code => code === 200))
  t.equal((await server.get(url)).json.spec.template.spec.containers[0].env.length, 40)
})

t.test('a type that is defined at run time takes none, nor do its parts, and says what it takes', async t => {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  t.teardown(() => app.close())
  let resources: ResourceRegistry | undefined
  await app.register(async scope => {
    await orch(scope, {})
    resources = scope.orchResources
  })
  await app.ready()
  const server = client(app)
  await polled(async () => (await server.get('/api/v1/namespaces/default')).code === 200)
  const type = resource(fromStructural(
    { group: 'example.com', version: 'v1', kind: 'Widget' },
    {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { size: { type: 'integer' } } },
        status: { type: 'object', properties: { turned: { type: 'integer' } } }
      }
    }
  ), {
    plural: 'widgets', namespaced: true, protobuf: false, storagePrefix: 'example.com/widgets',
    subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'] }]
  })
  resources?.add(type)
  resources?.serve(type.stored)
  const url = await created(
    server, '/apis/example.com/v1/namespaces/default/widgets',
    { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one' }, spec: { size: 1 } }
  )
  const { paths } = (await server.get('/openapi/v2')).json
  const consumes = (path: string): string[] => paths[path].patch.consumes as string[]
  t.ok(consumes('/api/v1/namespaces/{namespace}/configmaps/{name}').includes(STRATEGIC))
  const taken = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']
  t.strictSame(consumes('/apis/example.com/v1/namespaces/{namespace}/widgets/{name}'), taken, 'clients choose by this')
  for (const path of [url, `${url}/status`]) {
    const { code, json, headers }: Answer = await server.patch(path, { spec: { size: 2 } }, STRATEGIC)
    t.match(
      { code, json },
      {
        code: 415,
        json: {
          reason: 'UnsupportedMediaType',
          message:
            /strategic-merge-patch\+json is not for widgets.* - accepted media types include: application\/json-patch\+json, application\/merge-patch\+json, application\/apply-patch\+yaml$/
        }
      }
    )
    t.equal(headers['accept-patch'], taken.join(', '))
    t.equal((await server.patch(path, { spec: { size: 3 } })).code, 200, 'a merge patch is taken')
  }
})
