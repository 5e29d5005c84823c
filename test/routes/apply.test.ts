/**
 * Interface, 'Generic request shapes' 5, 'Field ownership', 'Errors' 3: server-side apply, of objects and subresources.
 */
import t from 'tap'
import { BINDINGS, build, binding, type Client, type Json } from '../build.js'
import { APPLY, CONFIGS, DEPLOYMENTS, apply, configMap, ownersOf } from './owners.js'

const AT = `${CONFIGS}/a`

t.test('an apply creates the object, and later changes it', async t => {
  const server = await build(t)
  t.match(await apply(server, AT, 'me', configMap({ x: '1' })), {
    code: 201,
    json: {
      data: { x: '1' },
      metadata: {
        namespace: 'default',
        managedFields: [{ manager: 'me', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' }]
      }
    }
  })
  const { code, json } = await apply(server, AT, 'me', configMap({ y: '2' }))
  t.equal(code, 200)
  t.same([json.data, ownersOf(json)], [{ y: '2' }, { 'Apply me': '{"f:data":{"f:y":{}}}' }])
  t.same((await apply(server, AT, 'me', configMap({ y: '2' }))).json, json, 'twice is once')
  t.same(
    (await apply(
      server, AT, 'other', configMap({ y: '2' }, { labels: { l: '1' } }), '&dryRun=All'
    )).json.metadata.labels,
    { l: '1' }
  )
  t.same((await server.get(AT)).json, json, 'a dry run stores nothing')
})

t.test('a binding, in YAML, comments and all', async t => {
  const server = await build(t)
  const text = `# a binding
apiVersion: rbac.authorization.orch.io/v1
kind: ClusterRoleBinding
metadata: {name: a}
roleRef: {apiGroup: rbac.authorization.orch.io, kind: ClusterRole, name: view}
subjects:
- {apiGroup: rbac.authorization.orch.io, kind: User, name: u}
`
  const { code, json } = await apply(server, `${BINDINGS}/a`, 'me', text)
  t.equal(code, 201)
  t.match(json, binding('a', { subjects: [{ kind: 'User', name: 'u' }] }))
  t.same(ownersOf(json), { 'Apply me': '{"f:roleRef":{},"f:subjects":{}}' })
})

t.test('fields that others set to another value conflict one by one; force takes them', async t => {
  const server = await build(t)
  await server.post(`${CONFIGS}?fieldManager=maker`, configMap({ x: '1', y: '1' }))
  await apply(server, AT, 'applier', configMap({ z: '1' }, { labels: { l: '1' } }))
  t.match(await apply(server, AT, 'me', configMap({ x: '2' })), {
    code: 409,
    json: {
      kind: 'Status',
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "maker" using v1: .data.x',
      details: {
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "maker" using v1', field: '.data.x' }]
      }
    }
  })
  const { json } = await apply(server, AT, 'me', configMap({ x: '2', y: '2', z: '2' }, { labels: { l: '2' } }))
  t.same(json.details.causes.map(({ message, field }: Json) => `${message}: ${field}`).sort(), [
    'conflict with "applier": .data.z', 'conflict with "applier": .metadata.labels.l',
    'conflict with "maker" using v1: .data.x', 'conflict with "maker" using v1: .data.y'
  ])
  t.match(
    json.message,
    'Apply failed with 4 conflicts: conflicts with "applier":\n- .data.z\n- .metadata.labels.l\n' +
    'conflicts with "maker" using v1:\n- .data.x\n- .data.y'
  )
  const { code, json: forced } = await apply(server, AT, 'me', configMap({ x: '2' }), '&force=true')
  t.equal(code, 200)
  t.same(ownersOf(forced), {
    'Apply applier': '{"f:data":{"f:z":{}},"f:metadata":{"f:labels":{"f:l":{}}}}',
    'Apply me': '{"f:data":{"f:x":{}}}',
    'Update maker': '{"f:data":{".":{},"f:y":{}}}'
  })
  for (const [query, expected] of [
    ['&force=false', 409], ['&force=0', 409], ['&force', 200], ['&force=', 200], ['&force=maybe', 200]
  ] as const) {
    t.equal(
      (await apply(server, AT, `me${query.length}`, configMap({ y: `of ${query}` }), `${query}&dryRun=All`)).code,
      expected, query
    )
  }
})

t.test('shared fields stay until their last owner drops them', async t => {
  const server = await build(t)
  await apply(server, AT, 'a', configMap({ x: '1' }))
  await apply(server, AT, 'b', configMap({ x: '1' }))
  t.equal((await apply(server, AT, 'a', configMap({ x: '2' }))).code, 409)
  t.same((await apply(server, AT, 'a', configMap({}))).json.data, { x: '1' })
  const { json } = await apply(server, AT, 'b', configMap({}))
  t.same([json.data, ownersOf(json)], [undefined, { 'Apply a': '{"f:data":{}}', 'Apply b': '{"f:data":{}}' }])
})

t.test('objects without owners get some with the first apply', async t => {
  const server = await build(t)
  await server.post(CONFIGS, configMap({ x: '1' }))
  await server.patch(AT, { metadata: { managedFields: [] } })
  t.match(await apply(server, AT, 'me', configMap({ x: '2' })), {
    code: 409, json: { message: /"before-first-apply" using v1: .data.x/ }
  })
  t.same(
    ownersOf((await apply(server, AT, 'me', configMap({ y: '1' }))).json),
    { 'Apply me': '{"f:data":{"f:y":{}}}', 'Update before-first-apply': '{"f:data":{".":{},"f:x":{}}}' }
  )
})

t.test('an invalid apply is refused with its reason, and nothing is changed', async t => {
  const server = await build(t)
  const { json: made } = await server.post(CONFIGS, configMap({ x: '1' }))
  const cases: ReadonlyArray<readonly [string, unknown, string, number, RegExp]> = [
    ['no manager', configMap({}), '', 422, /fieldManager: Required value/],
    ['nothing', '', '?fieldManager=me', 400, /empty/],
    ['a list', [], '?fieldManager=me', 400, /object/],
    ['no YAML', '{{', '?fieldManager=me', 400, /./],
    ['managedFields', configMap({}, { managedFields: [] }), '?fieldManager=me', 400, /managedFields must not be set/],
    [
      'no version', { kind: 'ConfigMap', metadata: { name: 'a' } }, '?fieldManager=me', 400,
      /^Incorrect version specified in apply patch. Specified patch version: , expected: v1$/
    ],
    [
      'another version', { ...configMap({}), apiVersion: 'v2' }, '?fieldManager=me', 400,
      /^Incorrect version specified in apply patch. Specified patch version: v2, expected: v1$/
    ],
    ['another kind', { ...configMap({}), kind: 'Secret' }, '?fieldManager=me', 400, /kind/],
    ['another name', configMap({}, { name: 'b' }), '?fieldManager=me', 400, /name/],
    ['another namespace', configMap({}, { namespace: 'b' }), '?fieldManager=me', 400, /namespace/],
    [
      'an unknown field', { ...configMap({}), spec: {} }, '?fieldManager=me&fieldValidation=Ignore', 400,
      /\.spec: field not declared in schema/
    ],
    [
      'a field twice, strictly',
      '{"apiVersion":"v1","kind":"ConfigMap","data":{"x":"1","x":"2"}}',
      '?fieldManager=me&fieldValidation=Strict',
      400,
      /^error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n {2}line 1: key "x" already set in map$/
    ],
    ['a wrong type', { ...configMap({}), data: 1 }, '?fieldManager=me', 400, /data/],
    ['an invalid object', configMap({ '/': '1' }), '?fieldManager=me', 422, /data/],
    ['an old version', configMap({}, { resourceVersion: '1' }), '?fieldManager=me', 409, /modified/],
    ['another uid', configMap({}, { uid: 'x' }), '?fieldManager=me', 422, /metadata\.uid/]
  ]
  for (const [title, body, query, code, message] of cases) {
    t.match(await server.patch(`${AT}${query}`, body, APPLY), { code, json: { kind: 'Status', message } }, title)
  }
  for (const [metadata, code, message] of [
    [
      { name: 'none', uid: 'x' }, 409,
      /uid mismatch: the provided object specified uid x, and no existing object was found$/
    ],
    [{ name: '' }, 400, /^the name of the object \(none based on URL\) was undeterminable: name must be provided$/]
  ] as const) {
    t.match(
      await apply(server, `${CONFIGS}/none`, 'me', configMap({}, metadata)), { code, json: { message } },
      'a missing object has no uid, and needs a name'
    )
  }
  t.equal(
    (await apply(server, AT, 'me', { apiVersion: 'v1', kind: 'ConfigMap' })).code, 200,
    'for an existing object the URL gives the name'
  )
  t.equal((await server.patch(AT, {}, 'application/merge-patch+json')).code, 200)
  t.equal(
    (await server.call('PATCH', `${AT}?force=true`, {}, { 'content-type': 'application/merge-patch+json' })).code, 422,
    'others cannot be forced'
  )
  t.same((await server.get(AT)).json, made)
})

t.test('an apply in a form that is not accepted is 415, whatever its options say', async t => {
  const server = await build(t)
  const query = '?fieldManager=me&force=true'
  const { code, headers } = await server.patch(`${AT}${query}`, configMap({}), 'application/apply-patch+cbor')
  t.equal(code, 415)
  t.match(headers['accept-patch'], APPLY)
})

t.test('an exported object with its version is created if it does not exist', async t => {
  const server = await build(t)
  const exported = configMap(
    { x: '1' }, { resourceVersion: '99', creationTimestamp: '2020-01-01T00:00:00Z', generation: 7 }
  )
  const { code, json } = await apply(server, AT, 'me', exported)
  t.equal(code, 201)
  t.notMatch(json.metadata, { resourceVersion: '99' })
  t.same(ownersOf(json), { 'Apply me': '{"f:data":{"f:x":{}}}' })
  t.match(
    await apply(server, AT, 'me', exported), { code: 409, json: { message: /modified/ } },
    'for an existing object the version is compared'
  )
})

t.test('several managers conflict in the order of their names', async t => {
  const server = await build(t)
  for (const [manager, key] of [['zoe', 'a'], ['adam', 'b']] as const) {
    await apply(server, AT, manager, configMap({ [key]: '1' }))
  }
  t.equal(
    (await apply(server, AT, 'me', configMap({ a: '2', b: '2' }))).json.message,
    'Apply failed with 2 conflicts: conflicts with "adam":\n- .data.b\nconflicts with "zoe":\n- .data.a'
  )
})

t.test('an apply by a user who may update but not create makes no object', async t => {
  const server = await build(t, {
    authorization: {
      authorizers: [
        {
          name: 'no-create',
          authorize: ({ info }) => ({
            decision: info.verb === 'create' && info.resource === 'configmaps' ? 'Deny' : 'Allow'
          })
        }
      ]
    }
  })
  t.match(await apply(server, AT, 'me', configMap({})), {
    code: 403, json: { message: /cannot create resource "configmaps"/ }
  })
  t.equal((await server.get(AT)).code, 404)
})

t.test('concurrent applies all take effect', async t => {
  const server = await build(t)
  const answers = await Promise.all(Array.from(
    { length: 20 }, (_, at) => apply(server, AT, `m${at}`, configMap({ [`k${at}`]: '1' }))
  ))
  t.same(answers.map(({ code }) => code).sort(), [...Array.from({ length: 19 }, () => 200), 201])
  const { json } = await server.get(AT)
  t.same([Object.keys(json.data).length, json.metadata.managedFields.length], [20, 20])
})

const container = (name: string, more: object): object => ({ name, image: `${name}:1`, ...more })
const deployment = (spec: object): object => ({
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec
})
const ofPods = (...containers: object[]): object => ({
  selector: { matchLabels: { app: 'a' } }, template: { metadata: { labels: { app: 'a' } }, spec: { containers } }
})
const podOf = ({ spec: { template: { spec } } }: Json): Json => spec

async function deploy (server: Client, manager: string, spec: object, query = ''): Promise<Json> {
  const { code, json } = await apply(server, `${DEPLOYMENTS}/d`, manager, deployment(spec), query)
  if (code > 201) throw new Error(json.message)
  return json
}

t.test('a deployment: containers by name, ports by number and protocol, variables by name', async t => {
  const server = await build(t)
  await deploy(
    server, 'a',
    ofPods(container('c', { ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }] }), container('side', {}))
  )
  await deploy(server, 'b', {
    template: {
      spec: {
        containers: [{ name: 'c', ports: [{ containerPort: 80, protocol: 'UDP' }], env: [{ name: 'B', value: '2' }] }]
      }
    }
  })
  const changed = await deploy(server, 'a', ofPods(container('c', { ports: [{ containerPort: 80, name: 'http' }] })))
  t.match(podOf(changed).containers, [
    {
      name: 'c',
      image: 'c:1',
      ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }, { containerPort: 80, protocol: 'UDP' }],
      env: [{ name: 'B', value: '2' }]
    }
  ])
  t.same([podOf(changed).containers.length, podOf(changed).containers[0].env.length], [1, 1], 'the rest is removed')
  t.match(await apply(server, `${DEPLOYMENTS}/d`, 'b', deployment({
    template: { spec: { containers: [{ name: 'c', image: 'x', ports: [{ containerPort: 80, name: 'x' }] }] } }
  })), {
    code: 409,
    json: {
      details: {
        causes: [
          { field: '.spec.template.spec.containers[name="c"].image' },
          { field: '.spec.template.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].name' }
        ]
      }
    }
  })
  t.match(
    await apply(server, `${DEPLOYMENTS}/d`, 'b', deployment(ofPods(container('c', {}), container('c', {})))),
    {
      code: 422,
      json: { details: { causes: [{ reason: 'FieldValueDuplicate', field: 'spec.template.spec.containers[1]' }] } }
    }
  )
  t.match(await apply(server, `${DEPLOYMENTS}/d`, 'b', deployment(ofPods({ image: 'x' }))), {
    code: 422,
    json: { details: { causes: [{ reason: 'FieldValueRequired', field: 'spec.template.spec.containers[0].name' }] } }
  })
})

t.test('defaults have no owner, and return when an applied value is dropped', async t => {
  const server = await build(t)
  await deploy(server, 'a', { ...ofPods(container('c', {})), replicas: 3 })
  t.equal((await deploy(server, 'a', ofPods(container('c', {})))).spec.replicas, 1)
  t.equal((await deploy(server, 'b', { replicas: 5 })).spec.replicas, 5, 'without a conflict')
})

t.test(
  'nulls, as generators of manifests write them, are owned where a field can be, and say nothing of which object it is',
  async t => {
    const server = await build(t)
    const config = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'd', creationTimestamp: null, uid: null, resourceVersion: null, namespace: null, annotations: null
      },
      spec: {
        replicas: null,
        strategy: {},
        selector: { matchLabels: { app: 'a' } },
        template: {
          metadata: { creationTimestamp: null, labels: { app: 'a' } },
          spec: { containers: [container('c', { resources: {}, ports: [{ containerPort: 80, protocol: null }] })] }
        }
      },
      status: {}
    }
    const { code, json } = await apply(server, `${DEPLOYMENTS}/d`, 'me', config)
    t.equal(code, 201, json.message)
    const owned = {
      'Apply me':
        '{"f:metadata":{"f:annotations":{}},"f:spec":{"f:replicas":{},"f:selector":{},"f:strategy":{},' +
      '"f:template":{"f:metadata":{"f:creationTimestamp":{},"f:labels":{"f:app":{}}},' +
      '"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:image":{},"f:name":{},' +
      '"f:ports":{"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:containerPort":{},"f:protocol":{}}' +
      '},"f:resources":{}}}}}}}'
    }
    t.same([json.spec.replicas, ownersOf(json)], [1, owned])
    t.same((await apply(server, `${DEPLOYMENTS}/d`, 'me', config)).json, json, 'twice is once')
    t.match(await apply(server, `${DEPLOYMENTS}/d`, 'me', { ...config, metadata: { name: null } }), {
      code: 200,
      json: { metadata: { name: 'd', uid: json.metadata.uid, creationTimestamp: json.metadata.creationTimestamp } }
    })
    t.match(
      await apply(
        server, `${DEPLOYMENTS}/d`, 'me', deployment(ofPods(container('c', { ports: [{ containerPort: null }] })))
      ),
      { code: 422, json: { details: { causes: [{ field: /containerPort$/ }] } } }
    )
  }
)

t.test('ports of a service', async t => {
  const server = await build(t)
  const url = '/api/v1/namespaces/default/services/s'
  const service = (ports: object[], more: object = {}): object => ({
    apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports, ...more }
  })
  await apply(server, url, 'a', service([{ port: 80, name: 'tcp' }]))
  const { code, json } = await apply(server, url, 'b', service([{ port: 80, protocol: 'UDP', name: 'udp' }]))
  t.equal(code, 200, json.message)
  t.match(json.spec.ports, [{ port: 80, protocol: 'TCP', name: 'tcp' }, { port: 80, protocol: 'UDP', name: 'udp' }])
  t.match((await apply(server, url, 'a', service([{ port: 81, name: 'other' }]))).json.spec.ports, [
    { port: 80, protocol: 'UDP' }, { port: 81, protocol: 'TCP' }
  ])
})

t.test('across the versions of an autoscaler', async t => {
  const server = await build(t)
  const url = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/h`
  const target = { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } }
  const hpa = (version: string, spec: object): object => ({
    apiVersion: `autoscaling/${version}`,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h' },
    spec: { ...target, ...spec }
  })
  const cpu = (averageUtilization: number): object => ({
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }]
  })
  t.equal(
    (await apply(server, url('v1'), 'one', hpa('v1', { maxReplicas: 3, targetCPUUtilizationPercentage: 50 }))).code, 201
  )
  t.match(await apply(server, url('v2'), 'two', hpa('v2', { maxReplicas: 3, ...cpu(60) })), {
    code: 409,
    json: { details: { causes: [{ message: 'conflict with "one"', field: '.spec.targetCPUUtilizationPercentage' }] } }
  })
  const { json } = await apply(server, url('v2'), 'two', hpa('v2', { maxReplicas: 3, ...cpu(60) }), '&force=true')
  t.same(ownersOf(json), {
    'Apply one': '{"f:spec":{"f:maxReplicas":{},"f:scaleTargetRef":{}}}',
    'Apply two':
      '{"f:spec":{"f:maxReplicas":{},"f:metrics":{},"f:scaleTargetRef":{"f:apiVersion":{},"f:kind":{},"f:name":{}}}}'
  })
  const { json: again } = await apply(server, url('v2'), 'one', hpa('v2', { maxReplicas: 3, minReplicas: 2 }))
  t.match(again.spec, { minReplicas: 2, metrics: [{ resource: { target: { averageUtilization: 60 } } }] })
  t.same(
    again.metadata.managedFields.map(({ manager, apiVersion }: Json) => [manager, apiVersion]).sort(),
    [['one', 'autoscaling/v2'], ['two', 'autoscaling/v2']]
  )
})

t.test('fields dropped in an apply of another version are removed or defaulted, unless others own them', async t => {
  const server = await build(t)
  const url = (group: string, resource: string): string => `/apis/${group}/namespaces/default/${resource}/a`
  const scheduled = (version: string, more: object = {}): object => ({
    apiVersion: `batch/${version}`,
    kind: 'CronJob',
    metadata: { name: 'a' },
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [container('c', {})] } } } },
      ...more
    }
  })
  await apply(
    server, url('batch/v1beta1', 'cronjobs'), 'me', scheduled('v1beta1', { suspend: true, startingDeadlineSeconds: 5 })
  )
  await server.patch(url('batch/v1', 'cronjobs'), { metadata: { labels: { l: '1' } } }, 'application/merge-patch+json')
  const { spec } = (await apply(server, url('batch/v1', 'cronjobs'), 'me', scheduled('v1'))).json
  t.same([spec.suspend, spec.startingDeadlineSeconds], [false, undefined])
  await apply(server, url('batch/v1', 'cronjobs'), 'other', {
    apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'a' }, spec: { suspend: true }
  })
  await apply(server, url('batch/v1beta1', 'cronjobs'), 'third', {
    apiVersion: 'batch/v1beta1', kind: 'CronJob', metadata: { name: 'a', annotations: { a: '1' } }
  })
  t.equal(
    (await apply(server, url('batch/v1', 'cronjobs'), 'other', {
      apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'a' }
    })).json.spec.suspend,
    false,
    'while another manager uses another version'
  )

  const autoscaler = (version: string, spec: object): object => ({
    apiVersion: `autoscaling/${version}`,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'a' },
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3, ...spec }
  })
  const resource = (name: string, averageUtilization: number): object => ({
    type: 'Resource', resource: { name, target: { type: 'Utilization', averageUtilization } }
  })
  const metricsOf = ({ json }: { json: Json }): Json[] =>
    json.spec.metrics.map(({ resource }: Json) => [resource.name, resource.target.averageUtilization])
  await apply(
    server, url('autoscaling/v2', 'horizontalpodautoscalers'), 'me',
    autoscaler('v2', { metrics: [resource('cpu', 70), resource('memory', 60)] })
  )
  await apply(
    server, url('autoscaling/v1', 'horizontalpodautoscalers'), 'me',
    autoscaler('v1', { targetCPUUtilizationPercentage: 70 })
  )
  t.same(
    metricsOf(await server.get(url('autoscaling/v2', 'horizontalpodautoscalers'))), [['cpu', 70]],
    'fields that the other version lacks are removed too'
  )
})

t.test('the status is applied through its subresource alone', async t => {
  const server = await build(t)
  await deploy(server, 'a', ofPods(container('c', {})))
  const status = {
    ...deployment({ replicas: 9 }), status: { replicas: 1, conditions: [{ type: 'Available', status: 'True' }] }
  }
  t.same((await apply(server, `${DEPLOYMENTS}/d`, 'b', status)).json.status.replicas, undefined)
  const { code, json } = await apply(server, `${DEPLOYMENTS}/d/status`, 'controller', status)
  t.match([code, json.status, json.spec.replicas], [200, { replicas: 1, conditions: [{ type: 'Available' }] }, 9])
  t.same(
    ownersOf(json)['Apply controller status'],
    '{"f:status":{"f:conditions":{"k:{\\"type\\":\\"Available\\"}":{".":{},"f:status":{},"f:type":{}}},' +
    '"f:replicas":{}}}'
  )
  t.equal((await apply(server, `${DEPLOYMENTS}/none/status`, 'controller', status)).code, 400)
  t.equal(
    (await apply(server, `${DEPLOYMENTS}/none/status`, 'controller', { ...status, metadata: {} })).code, 404,
    'and makes nothing'
  )
})

t.test('the first server-side apply of kubectl takes over its client-side fields ' +
  'and updates the annotation', async t => {
  const server = await build(t)
  const LAST = 'kubectl.orch.io/last-applied-configuration'
  const last = JSON.stringify(configMap({ x: '1', y: '1' }))
  await server.post(
    `${CONFIGS}?fieldManager=kubectl-client-side-apply`,
    configMap({ x: '1', y: '1' }, { annotations: { [LAST]: last } })
  )
  t.equal((await apply(server, AT, 'somebody', configMap({ x: '2' }))).code, 409)
  const { code, json } = await apply(server, AT, 'kubectl', configMap({ x: '2' }))
  t.equal(code, 200)
  t.same([json.data, JSON.parse(json.metadata.annotations[LAST]).data], [{ x: '2', y: '1' }, { x: '2' }])
  await server.patch(`${AT}?fieldManager=editor`, { data: { x: '3' } })
  t.match(
    await apply(server, AT, 'kubectl', configMap({ x: '4' })),
    { code: 409, json: { message: /"editor"/ } },
    'a field that another manager has changed since conflicts'
  )
})

t.test('stringData of a Secret is merged into data regardless of owners, and owned as stringData', async t => {
  const server = await build(t)
  const secret = (value: string, annotations?: object): Json => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'a', ...annotations === undefined ? {} : { annotations } },
    stringData: { k: value }
  })
  const url = '/api/v1/namespaces/default/secrets'
  await server.post(
    `${url}?fieldManager=kubectl-client-side-apply`,
    secret('a', { 'kubectl.orch.io/last-applied-configuration': JSON.stringify(secret('a')) })
  )
  const { code, json } = await apply(server, `${url}/a`, 'kubectl', secret('b'))
  t.match(
    { code, data: json.data, stringData: json.stringData }, { code: 200, data: { k: 'Yg==' }, stringData: undefined }
  )
  t.equal(ownersOf(json)['Apply kubectl'], '{"f:stringData":{"f:k":{}}}')
  t.match(ownersOf(json)['Update kubectl-client-side-apply'], /"f:data":\{"\.":\{\},"f:k":\{\}\}/)
  t.match((await apply(server, `${url}/a`, 'kubectl', secret('c'))).json.data, { k: 'Yw==' }, 'and again')
  t.match(
    await apply(server, `${url}/a`, 'somebody', secret('d')),
    { code: 409, json: { message: /"kubectl".*: \.stringData\.k$/ } }, 'appliers of the same stringData conflict'
  )
  const { data } = (await apply(server, `${url}/b`, 'kubectl', { ...secret('a'), metadata: { name: 'b' } })).json
  t.same(data, { k: 'YQ==' }, 'in a new one, too')
})

t.test('the annotation that kubectl keeps has what was sent, in the form kubectl writes', async t => {
  const server = await build(t)
  const LAST = 'kubectl.orch.io/last-applied-configuration'
  const lastOf = async (url: string): Promise<string> => (await server.get(url)).json.metadata.annotations[LAST]
  const sent = {
    ...deployment(ofPods(container('c', { resources: { limits: { memory: '1024Mi', cpu: 1 } } }))),
    metadata: { name: 'd', annotations: { [LAST]: '{}', a: '<&>' }, creationTimestamp: null }
  }
  await apply(server, `${DEPLOYMENTS}/d`, 'somebody', sent)
  t.equal((await apply(server, `${DEPLOYMENTS}/d`, 'kubectl', sent)).code, 200)
  t.equal(
    await lastOf(`${DEPLOYMENTS}/d`),
    '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"a":"\\u003c\\u0026\\u003e"},' +
    '"creationTimestamp":null,"name":"d"},"spec":{"selector":{"matchLabels":{"app":"a"}},' +
    '"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"image":"c:1","name":"c",' +
    '"resources":{"limits":{"cpu":1,"memory":"1024Mi"}}}]}}}}\n'
  )
  await apply(server, AT, 'somebody', configMap({ x: '1' }, { annotations: { [LAST]: '{}' } }))
  await server.patch(
    `${AT}?fieldManager=kubectl`,
    'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a, annotations: }\ndata: {z: "1", x: "1"}', APPLY
  )
  t.equal(await lastOf(AT), '{"apiVersion":"v1","data":{"x":"1","z":"1"},"kind":"ConfigMap","metadata":{"name":"a"}}\n')
  const before = await lastOf(`${DEPLOYMENTS}/d`)
  t.equal(
    (await apply(server, `${DEPLOYMENTS}/d/scale`, 'kubectl', {
      apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 1 }
    })).code,
    200
  )
  t.equal(await lastOf(`${DEPLOYMENTS}/d`), before, 'applying the scale does not change the annotation of the object')
})

t.test('YAML is read with the scalars of YAML 1.1, in whatever verb it comes', async t => {
  const server = await build(t)
  const YAML = { 'content-type': 'application/yaml' }
  const pod = (name: string): string =>
    `apiVersion: v1\nkind: PodTemplate\nmetadata: {name: ${name}}\ntemplate:\n  spec:\n    hostNetwork: on\n` +
    '    automountServiceAccountToken: No\n    containers: [{name: c, image: i, tty: yes}]\n' +
    '    volumes: [{name: v, configMap: {name: x, defaultMode: 0400, optional: y}}]\n'
  const url = '/api/v1/namespaces/default/podtemplates'
  const wanted = {
    hostNetwork: true,
    automountServiceAccountToken: false,
    containers: [{ tty: true }],
    volumes: [{ configMap: { defaultMode: 256, optional: true } }]
  }
  t.match(await server.post(url, pod('a'), YAML), { code: 201, json: { template: { spec: wanted } } })
  t.match(await server.put(`${url}/a`, pod('a'), YAML), { code: 200, json: { template: { spec: wanted } } })
  t.match(await server.patch(`${url}/b?fieldManager=me`, pod('b'), APPLY), {
    code: 201, json: { template: { spec: wanted } }
  })
  const config = (value: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: ${value}}\n`
  for (const value of ['yes', '0400', 'on', '1_000']) {
    t.equal((await server.post(CONFIGS, config(value), YAML)).code, 400, `${value} is no text`)
    t.equal((await server.patch(`${AT}?fieldManager=me`, config(value), APPLY)).code, 400, `${value} is no text`)
  }
  t.match((await server.post(CONFIGS, config('"yes"'), YAML)).json, { data: { key: 'yes' } })
  t.ok(
    (await server.get(AT, { accept: 'application/yaml' })).body.includes('key: "yes"'),
    'and written so that it is read as it was'
  )
})
