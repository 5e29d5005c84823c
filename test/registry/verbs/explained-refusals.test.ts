/**
 * A Conflict says what changed since and by whom; a refused value says who owns its field. Codes, reasons, types and
 * fields are upstream's alone.
 */
import t from 'tap'
import { build, type Answer, type Client, type Json, type Test } from '../../build.js'
import { polled } from '../../polled.js'

const URL = '/apis/apps/v1/namespaces/default/deployments'
const MODIFIED =
  'Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes ' +
  'to the latest version and try again'
const labels = { app: 'web' }
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { a: '1' } },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels }, spec: { containers: [{ name: 'main', image: 'i:1', ports: [{ containerPort: 80 }] }] }
    }
  }
}

const patchAs = (server: Client, manager: string, patch: Json, url = `${URL}/web`): Promise<Answer> =>
  server.patch(`${url}?fieldManager=${manager}`, patch)
const created = async (server: Client): Promise<Json> =>
  (await server.post(`${URL}?fieldManager=maker`, DEPLOYMENT)).json

t.test('a conflict names the fields that changed and their managers', async t => {
  const server = await build(t)
  const before = await created(server)
  await patchAs(server, 'scaler', { spec: { replicas: 3 } })
  await patchAs(server, 'labeller', { metadata: { labels: { a: null, b: '2' } } })
  await server.patch(
    `${URL}/web?fieldManager=editor`,
    { spec: { template: { spec: { containers: [{ name: 'main', image: 'i:2' }] } } } },
    'application/strategic-merge-patch+json'
  )
  const { code, json } = await server.put(`${URL}/web?fieldManager=maker`, before)
  t.match(
    { code, json },
    { code: 409, json: { reason: 'Conflict', details: { name: 'web', group: 'apps', kind: 'deployments' } } }
  )
  t.same(Object.keys(json['details']).sort(), ['group', 'kind', 'name'], 'nothing is added to the details')
  t.equal(
    json['message'],
    `${MODIFIED}. Changed since: .metadata.labels.b by "labeller", .spec.replicas by "scaler", ` +
    '.spec.template.spec.containers[name="main"].image by "editor", .metadata.labels.a (removed)'
  )
  const patched = await patchAs(server, 'maker', {
    metadata: { resourceVersion: before['metadata'].resourceVersion }, spec: { paused: true }
  })
  t.equal(patched.json['message'], json['message'], 'a patch of a version too')
})

t.test('a conflict about a status names its writer, and many fields are counted', async t => {
  const server = await build(t)
  const before = await created(server)
  await server.call(
    'PATCH', `${URL}/web/status?fieldManager=controller`, { status: { replicas: 1 } },
    { 'content-type': 'application/merge-patch+json' }
  )
  t.equal(
    (await server.put(`${URL}/web`, before)).json['message'],
    `${MODIFIED}. Changed since: .status.replicas by "controller"`
  )
  await patchAs(server, 'many', {
    metadata: { annotations: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`k${at}`, 'v'])) }
  })
  t.match(
    (await server.put(`${URL}/web`, before)).json['message'],
    /Changed since: (?:\.metadata\.annotations(?:\.k\d+)? by "many"(?:, )?){5} and 27 more$/
  )
})

t.test('a conflict names the fields of the version that the client uses', async t => {
  const server = await build(t)
  const url = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
  const scaler = {
    metadata: { name: 'h' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: 3,
      behavior: { scaleDown: { stabilizationWindowSeconds: 5 } }
    }
  }
  const { json: before } = await server.post(`${url}?fieldManager=maker`, scaler)
  await patchAs(server, 'other', { spec: { behavior: { scaleDown: { stabilizationWindowSeconds: 7 } } } }, `${url}/h`)
  t.match(
    (await server.put(`${url}/h`, before)).json['message'],
    /Changed since: \.spec\.behavior\.scaleDown\.stabilizationWindowSeconds by "other"$/
  )
})

t.test('a conflict about a scale omits fields that a scale does not have', async t => {
  const server = await build(t)
  const { json: before } = await server.get(`${URL}/${String((await created(server))['metadata'].name)}/scale`)
  await patchAs(server, 'other', { metadata: { annotations: { private: 'x' } } })
  const refused = await server.put(`${URL}/web/scale`, before)
  t.match({ code: refused.code, message: refused.json['message'] }, { code: 409, message: /try again$/ })
  t.equal(
    (await patchAs(
      server, 'o', { metadata: { resourceVersion: before['metadata'].resourceVersion }, spec: { replicas: 2 } },
      `${URL}/web/scale`
    )).json['message'],
    refused.json['message']
  )
})

t.test('a conflict says if the object was created again; unknown versions are not explained', async t => {
  const server = await build(t)
  const before = await created(server)
  await server.delete(`${URL}/web`)
  await created(server)
  t.equal(
    (await server.put(`${URL}/web`, {
      ...before, metadata: { ...before['metadata'], uid: undefined }
    })).json['message'],
    `${MODIFIED}. Changed since: it was deleted and created again`
  )
  const { json } = await server.put(`${URL}/web`, {
    ...DEPLOYMENT, metadata: { name: 'web', resourceVersion: '999999' }
  })
  t.equal(json['message'], MODIFIED)
})

t.test('a conflict names the managers that wrote since the client\'s version', async t => {
  const server = await build(t, { watchCache: { size: 0 } })
  const before = await created(server)
  await patchAs(server, 'scaler', { spec: { replicas: 3 } })
  t.equal((await server.put(`${URL}/web`, before)).json['message'], `${MODIFIED}. Changed since: fields of "scaler"`)
  delete before['metadata'].managedFields
  t.equal((await server.put(`${URL}/web`, before)).json['message'], MODIFIED)
})

t.test('a refused delete at an old version names the changes since', async t => {
  const server = await build(t)
  const before = await created(server)
  await patchAs(server, 'scaler', { spec: { replicas: 3 } })
  const refused = await server.delete(`${URL}/web`, {
    preconditions: { resourceVersion: before['metadata'].resourceVersion }
  })
  t.equal(refused.code, 409)
  t.match(refused.json['message'], /The object might have been modified\. Changed since: \.spec\.replicas by "scaler"/)
  for (const resourceVersion of ['0', '', 'x', '1e400', '-1']) {
    const { code, json } = await server.delete(`${URL}/web`, { preconditions: { resourceVersion } })
    t.equal(code, 409)
    t.match(json['message'], /might have been modified$/, resourceVersion)
  }
})

t.test('refusals are explained only to those who may get the object, whatever else they may do with it', async t => {
  let readable = true
  const server = await build(t, {
    authorization: {
      authorizers: [{
        name: 'switch', authorize: ({ info: { verb, resource, subresource, name } }) => {
          const asked = verb === 'get' && name === 'web' && subresource === '' &&
            (resource === 'deployments' || resource === 'pods')
          return { decision: asked && !readable ? 'Deny' : 'Allow' }
        }
      }]
    }
  })
  const before = await created(server)
  const pods = '/api/v1/namespaces/default/pods'
  const { json: pod } = await server.post(`${pods}?fieldManager=maker`, {
    metadata: { name: 'web' }, spec: { containers: [{ name: 'c', image: 'i' }] }
  })
  await patchAs(server, 'scaler', { spec: { replicas: 3 } })
  await patchAs(server, 'scaler', { metadata: { labels: { secret: 'x' } } }, `${pods}/web`)
  const preconditions = { resourceVersion: before['metadata'].resourceVersion }
  const ofPod = { resourceVersion: pod['metadata'].resourceVersion }
  const writes: Record<string, (query: string) => Promise<Answer>> = {
    update: query => server.put(`${URL}/web${query}`, before),
    status: query => server.put(`${URL}/web/status${query}`, before),
    patch: query => server.patch(`${URL}/web${query}`, { metadata: preconditions }),
    delete: query => server.call('DELETE', `${URL}/web${query}`, { preconditions }),
    invalid: query => server.patch(`${URL}/web${query}`, { spec: { replicas: -1 } }),
    eviction: query => server.post(`${pods}/web/eviction${query}`, {
      apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web' }, deleteOptions: { preconditions: ofPod }
    })
  }
  for (const [name, write] of Object.entries(writes)) {
    for (const query of ['', '?dryRun=All']) {
      readable = true
      t.match((await write(query)).body, /Changed since|owned by/, `${name}${query}`)
      readable = false
      const { code, body } = await write(query)
      t.notMatch(body, /Changed since|owned by|scaler/, `${name}${query}`)
      t.equal(code, name === 'invalid' ? 422 : 409)
    }
  }
})

t.test('large objects are not compared', async t => {
  const server = await build(t)
  const url = '/api/v1/namespaces/default/configmaps'
  const { json: before } = await server.post(url, { metadata: { name: 'large' }, data: { a: 'x'.repeat(20_000) } })
  await patchAs(server, 'other', { data: { b: 'y' } }, `${url}/large`)
  t.match((await server.put(`${url}/large`, before)).json['message'], /try again$/)
})

t.test('a refused value names the owner of its field, if it is another one', async t => {
  const server = await build(t)
  await created(server)
  await patchAs(server, 'scaler', { spec: { replicas: 3 } })
  const bad = {
    spec: {
      replicas: -1,
      template: { spec: { containers: [{ name: 'main', image: '', ports: [{ containerPort: 80, protocol: 'TCP' }] }] } }
    },
    metadata: { labels: { a: '!' } }
  }
  const refused = await server.patch(`${URL}/web?fieldManager=maker`, bad, 'application/strategic-merge-patch+json')
  const byOther = await server.patch(`${URL}/web?fieldManager=other`, bad, 'application/strategic-merge-patch+json')
  const texts = ({ json }: Answer): Json =>
    Object.fromEntries(json['details'].causes.map(({ field, message }: Json) => [field, message]))
  const bare = ({ json }: Answer): Json => json['details'].causes.map(({ reason, field }: Json) => [reason, field])
  t.same(bare(refused), bare(byOther), 'types and fields do not depend on owners')
  t.same([refused.code, byOther.code], [422, 422])
  t.equal(texts(refused)['spec.replicas'], 'Invalid value: -1: must be greater than or equal to 0 (owned by "scaler")')
  t.notMatch(texts(refused)['spec.template.spec.containers[0].image'], 'owned by', 'not the own fields')
  t.equal(texts(byOther)['spec.template.spec.containers[0].image'], 'Required value (owned by "maker")')
  t.match(texts(byOther)['metadata.labels'], /\(owned by "maker"\)$/)
  t.match(byOther.json['message'], '(owned by "scaler")', 'the text as a whole too')
  t.notMatch(
    (await server.post(URL, {
      ...DEPLOYMENT, metadata: { name: 'new' }, spec: { ...DEPLOYMENT.spec, replicas: -1 }
    })).body,
    'owned by',
    'a new object has no owners'
  )
})

t.test('paths of clients lead nowhere', async t => {
  const server = await build(t)
  const url = '/api/v1/namespaces/default/configmaps'
  await server.post(`${url}?fieldManager=maker`, { metadata: { name: 'c' }, data: { a: 'b' } })
  for (const key of ['__proto__', 'constructor', 'a[0].b', '..', ']['.repeat(100)]) {
    const { code, json } = await patchAs(
      server,
      'other',
      JSON.parse(
        `{"metadata":{"labels":{${JSON.stringify(key)}:"!"}},"data":{${JSON.stringify(`${key} `)}:"x"}}`
      ) as Json,
      `${url}/c`
    )
    t.equal(code, 422, key)
    t.notMatch(JSON.stringify(json), 'owned by')
  }
})

const FOOS = '/apis/x.example.com/v1/namespaces/default/foos'
/** A custom type whose objects may have members of any name. */
async function customType (t: Test): Promise<Client> {
  const server = await build(t)
  const names = { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' }
  const spec = {
    type: 'object',
    'x-orch-preserve-unknown-fields': true,
    properties: { numbers: { type: 'object', additionalProperties: { type: 'integer', maximum: 5 } } }
  }
  const versions = [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }
  ]
  await server.post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    metadata: { name: 'foos.x.example.com' }, spec: { group: 'x.example.com', scope: 'Namespaced', names, versions }
  })
  await polled(async () => (await server.get(FOOS)).code === 200)
  return server
}

t.test('names that clients choose are truncated and cannot control a terminal', async t => {
  const server = await customType(t)
  const { json: before } = await server.post(FOOS, {
    apiVersion: 'x.example.com/v1', kind: 'Foo', metadata: { name: 'a' }, spec: {}
  })
  await patchAs(
    server, 'w', { spec: { 'a\u001b[2J\n\u009b': 1, ['x'.repeat(3000)]: { a: 1, b: 1, c: 1, d: 1 } } }, `${FOOS}/a`
  )
  const { message } = (await server.put(`${FOOS}/a`, before)).json
  t.ok(message.startsWith('Operation cannot be fulfilled') && message.length < 1500)
  t.match(message, '.spec.a\\u001b[2J\\u000a\\u009b by "w", .spec.xxx')
})

t.test('a path of many brackets costs little', async t => {
  const server = await customType(t)
  await server.post(FOOS, {
    apiVersion: 'x.example.com/v1', kind: 'Foo', metadata: { name: 'a' }, spec: { numbers: { a: 1 } }
  })
  const refused = async (key: string): Promise<Answer> =>
    await patchAs(server, 'other', { spec: { numbers: { [key]: 9 } } }, `${FOOS}/a`)
  t.match((await refused('a')).json['details'].causes, [{ field: 'spec.numbers.a', message: /\(owned by "[^"]+"\)$/ }])
  for (const length of [500, 200_000]) { // takes minutes if each bracket is a start
    const { code, body } = await refused('['.repeat(length))
    t.equal(code, 422)
    t.notMatch(body, 'owned by')
  }
})
