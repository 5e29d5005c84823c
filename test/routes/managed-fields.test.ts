/** Interface, 'managedFields entry' and 'Field ownership': owners after writes other than applies. */
import t from 'tap'
import { BINDINGS, build, binding, type Client, type Json, type Answer } from '../build.js'
import { CONFIGS, DEPLOYMENTS, ownersOf } from './owners.js'

const configMap = (name: string, data: object, metadata: object = {}): object => ({
  metadata: { name, ...metadata }, data
})
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

const as = (agent: string): Record<string, string> => ({ 'user-agent': agent })

t.test('an entry has a manager, operation, version, time and a set of fields', async t => {
  const server = await build(t)
  const { json } = await server.post(`${CONFIGS}?fieldManager=me`, configMap('a', { x: '1' }))
  t.match(json.metadata.managedFields, [
    {
      manager: 'me',
      operation: 'Update',
      apiVersion: 'v1',
      time: TIME,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { '.': {}, 'f:x': {} } }
    }
  ])
  t.equal(Object.keys(json.metadata.managedFields[0]).join(), 'manager,operation,apiVersion,time,fieldsType,fieldsV1')
  t.same((await server.get(`${CONFIGS}/a`)).json.metadata.managedFields, json.metadata.managedFields)
})

t.test('its time is that of the last write that changed what it owns', async t => {
  const server = await build(t)
  const AT = '2020-01-01T00:00:00Z'
  const at = `${CONFIGS}/a`
  /** The entries are as old as that. */
  const age = async (): Promise<void> => {
    const { json } = await server.get(at)
    const metadata = json['metadata'] as { managedFields: object[] }
    await server.put(`${at}?fieldManager=me`, {
      ...json, metadata: { ...metadata, managedFields: metadata.managedFields.map(entry => ({ ...entry, time: AT })) }
    })
  }
  const ages = ({ json }: Answer): unknown => (json['metadata'] as { managedFields: Json[] }).managedFields
    .map(({ manager, time }) => [manager, time === AT])
  const merge = (data: object): Promise<Answer> => server.patch(`${at}?fieldManager=me`, { data })
  const apply = (data: object): Promise<Answer> => server.call(
    'PATCH', `${at}?fieldManager=it&force=true`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data },
    { 'content-type': 'application/apply-patch+yaml' }
  )
  await server.post(`${CONFIGS}?fieldManager=me`, configMap('a', { x: '1', y: '1' }))
  await age()
  t.same(ages(await merge({ x: '1' })), [['me', true]], 'nothing has changed')
  t.same(ages(await merge({ x: '2' })), [['me', false]], 'the same fields have other values')
  await apply({ z: '1' })
  await age()
  t.same(ages(await merge({ y: null })), [['it', true], ['me', true]], 'a field that is only removed is not touched')
  t.same(ages(await apply({ z: '1' })), [['it', true], ['me', true]])
  t.same(ages(await apply({ z: '2' })), [['it', false], ['me', true]])
})

t.test('the manager is the first part of the user agent where none is named', async t => {
  const server = await build(t)
  for (const [index, [agent, manager]] of ([
    ['kubectl/v1.24 (linux)', 'kubectl'], ['plain', 'plain'], ['x'.repeat(200), 'x'.repeat(128)], ['', 'unknown'],
    ['/1.0', 'unknown']
  ] as const).entries()) {
    const { json } = await server.post(CONFIGS, configMap(`c${index}`, { x: '1' }), as(agent))
    t.equal(json.metadata.managedFields[0].manager, manager)
  }
})

t.test('create, update and patches own what they change', async t => {
  const server = await build(t)
  await server.post(`${BINDINGS}?fieldManager=maker`, binding('a', { metadata: { labels: { a: '1' } } }))
  await server.call('PUT', `${BINDINGS}/a?fieldManager=putter`, binding('a', { metadata: { labels: { a: '2' } } }))
  await server.call(
    'PATCH', `${BINDINGS}/a?fieldManager=merger`, { metadata: { annotations: { b: '1' } } },
    { 'content-type': 'application/merge-patch+json' }
  )
  await server.call(
    'PATCH', `${BINDINGS}/a?fieldManager=patcher`, [{ op: 'remove', path: '/subjects' }],
    { 'content-type': 'application/json-patch+json' }
  )
  t.same(ownersOf((await server.get(`${BINDINGS}/a`)).json), {
    'Update maker': '{"f:metadata":{"f:labels":{}},"f:roleRef":{}}',
    'Update merger': '{"f:metadata":{"f:annotations":{".":{},"f:b":{}}}}',
    'Update putter': '{"f:metadata":{"f:labels":{"f:a":{}}}}'
  })
})

t.test('the creator of a pod owns what was sent and its defaults, not what admission adds', async t => {
  const server = await build(t)
  const { json } = await server.post('/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] }
  })
  const { serviceAccountName, tolerations, priority } = json.spec
  t.same([serviceAccountName, tolerations.length, priority], ['default', 2, 0])
  t.same(Object.keys(json.metadata.managedFields[0].fieldsV1['f:spec']), [
    'f:containers', 'f:dnsPolicy', 'f:enableServiceLinks', 'f:restartPolicy', 'f:schedulerName', 'f:securityContext',
    'f:terminationGracePeriodSeconds'
  ])
})

t.test('empty maps that were sent have no owner and are not returned', async t => {
  const server = await build(t)
  const { json } = await server.post(CONFIGS, { metadata: { name: 'a' }, data: { x: '1' }, binaryData: {} })
  t.same([json.binaryData, ...Object.values(ownersOf(json))], [undefined, '{"f:data":{".":{},"f:x":{}}}'])
  t.same((await server.patch(`${CONFIGS}/a?fieldManager=other`, { binaryData: {} })).json, json)
})

t.test('a write that changes nothing makes no new version, even by another manager', async t => {
  const server = await build(t)
  const { json: made } = await server.post(CONFIGS, configMap('a', { x: '1' }))
  t.same((await server.put(`${CONFIGS}/a?fieldManager=other`, configMap('a', { x: '1' }))).json, made)
  t.same((await server.patch(`${CONFIGS}/a?fieldManager=other`, { data: { x: '1' } })).json, made)
})

t.test('an empty list clears, and later updates of the object are not tracked', async t => {
  const server = await build(t)
  for (const [name, none] of [['a', []], ['b', [{}]]] as const) {
    await server.post(CONFIGS, configMap(name, { x: '1' }))
    t.equal(
      (await server.patch(`${CONFIGS}/${name}`, { metadata: { managedFields: none } })).json.metadata.managedFields,
      undefined
    )
    t.equal(
      (await server.put(`${CONFIGS}/${name}`, configMap(name, { x: '2' }))).json.metadata.managedFields, undefined
    )
  }
})

t.test('entries that are sent along: kept as they are, written anew, or refused', async t => {
  const server = await build(t)
  const { json: made } = await server.post(`${CONFIGS}?fieldManager=a`, configMap('a', { x: '1', y: '1' }))
  const put = (managedFields: unknown, data: object, manager = 'b') => server.put(
    `${CONFIGS}/a?fieldManager=${manager}`, { ...configMap('a', data), metadata: { name: 'a', managedFields } }
  )
  t.same(
    ownersOf((await put(made.metadata.managedFields, { x: '2', y: '1' })).json),
    { 'Update a': '{"f:data":{".":{},"f:y":{}}}', 'Update b': '{"f:data":{"f:x":{}}}' }
  )
  const entry = {
    manager: 'c',
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:y': {}, 'f:x': {} } }
  }
  t.same(ownersOf((await put([entry], { x: '2', y: '1' })).json), { 'Apply c': '{"f:data":{"f:x":{},"f:y":{}}}' })
  t.same(
    ownersOf((await put([{ manager: 'd', operation: 'Update' }], { x: '2', y: '1' })).json),
    { 'Apply c': '{"f:data":{"f:x":{},"f:y":{}}}' }, 'one that says nothing is ignored'
  )
  for (const [broken, field] of [
    [{ ...entry, fieldsV1: { x: {} } }, 'fieldsV1'],
    [{ ...entry, fieldsV1: JSON.parse('{"f:data":{"__proto__":{}}}') as object }, 'fieldsV1'],
    [{ ...entry, fieldsV1: { 'f:x': 1 } }, 'fieldsV1'],
    [{ ...entry, operation: 'Steal' }, 'operation'], [{ ...entry, fieldsType: 'V2' }, 'fieldsType'],
    [{ ...entry, manager: 'x'.repeat(129) }, 'manager']
  ] as const) {
    t.match(await put([broken], { x: '3' }), {
      code: 422, json: { details: { causes: [{ field: `metadata.managedFields[0].${field}` }] } }
    })
  }
  t.same(
    ownersOf((await put([{ ...entry, apiVersion: 'gone/v1' }], { x: '4', y: '1' })).json),
    { 'Update b': '{"f:data":{"f:x":{}}}' }, 'an unknown version is dropped'
  )
})

t.test('the creator owns a new object, whatever entries it was sent with', async t => {
  const server = await build(t)
  const entry = {
    manager: 'thief',
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:x': {} } }
  }
  t.same(
    ownersOf(
      (await server.post(`${CONFIGS}?fieldManager=a`, configMap('a', { x: '1' }, { managedFields: [entry] }))).json
    ),
    { 'Update a': '{"f:data":{".":{},"f:x":{}}}' }
  )
  t.equal(
    (await server.post(CONFIGS, configMap('b', {}, { managedFields: [{ ...entry, fieldsV1: { y: {} } }] }))).code, 422
  )
})

t.test('megabytes of entries cost no more than their size', async t => {
  const server = await build(t)
  await server.post(CONFIGS, configMap('a', { x: '1' }))
  const fields = Object.fromEntries(Array.from(
    { length: 40_000 }, (_, at) => [`k:{"name":"item-${at}","z":1,"a":"<&>"}`, { '.': {} }]
  ))
  const entry = {
    manager: 'big', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:x': fields }
  }
  const started = process.cpuUsage()
  const { code } = await server.patch(`${CONFIGS}/a`, { metadata: { managedFields: [entry] } })
  t.ok(code === 200 || (code >= 400 && code < 500), String(code))
  const { user, system } = process.cpuUsage(started)
  t.ok(user + system < 10_000_000, `${user + system} us`)
  t.same((await server.get(`${CONFIGS}/a`)).json.data, { x: '1' })
})

const template = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'i:1', ports: [{ containerPort: 80 }], env: [{ name: 'E', value: '1' }] }] }
}
const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { app: 'a' } }, template } }

async function makeDeployment (server: Client): Promise<Json> {
  const { code, json } = await server.post(`${DEPLOYMENTS}?fieldManager=maker`, deployment)
  if (code !== 201) throw new Error(json.message)
  return json
}

t.test('a deployment is owned by containers, ports and variables, and its status through its subresource', async t => {
  const server = await build(t)
  const made = await makeDeployment(server)
  const {
    'f:spec': {
      'f:replicas': replicas, 'f:selector': selector, 'f:strategy': strategy,
      'f:template': { 'f:spec': { 'f:containers': containers } }
    },
    'f:status': none
  } = made.metadata.managedFields[0].fieldsV1
  t.same([replicas, selector, Object.keys(strategy), none], [{}, {}, ['f:rollingUpdate', 'f:type'], undefined])
  t.same(Object.keys(containers), ['k:{"name":"c"}'])
  t.match(containers['k:{"name":"c"}'], {
    '.': {},
    'f:env': { '.': {}, 'k:{"name":"E"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
    'f:ports': {
      '.': {}, 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} }
    },
    'f:resources': {}
  })
  const status = {
    ...made,
    spec: { ...made.spec, replicas: 7 },
    status: { observedGeneration: 1, replicas: 1, conditions: [{ type: 'Available', status: 'True' }] }
  }
  const { json } = await server.put(`${DEPLOYMENTS}/d/status?fieldManager=controller`, status)
  t.equal(
    ownersOf(json)['Update controller status'],
    '{"f:status":{"f:conditions":{".":{},"k:{\\"type\\":\\"Available\\"}":{".":{},"f:lastTransitionTime":{},' +
    '"f:lastUpdateTime":{},"f:status":{},"f:type":{}}},"f:observedGeneration":{},"f:replicas":{}}}'
  )
  t.equal(
    ownersOf(json)['Update maker'], JSON.stringify(made.metadata.managedFields[0].fieldsV1), 'the rest is as it was'
  )
})

t.test('fields written through another version are recorded in that version', async t => {
  const server = await build(t)
  const url = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
  const hpa = {
    metadata: { name: 'h' },
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
      targetCPUUtilizationPercentage: 50
    }
  }
  const { json } = await server.post(`${url('v1')}?fieldManager=one`, hpa)
  t.match(json.metadata.managedFields, [
    { manager: 'one', apiVersion: 'autoscaling/v1', fieldsV1: { 'f:spec': { 'f:targetCPUUtilizationPercentage': {} } } }
  ])
  const { json: v2 } = await server.get(`${url('v2')}/h`)
  v2.spec.metrics[0].resource.target.averageUtilization = 60
  const { json: changed } = await server.put(`${url('v2')}/h?fieldManager=two`, v2)
  t.match(changed.metadata.managedFields, [
    { manager: 'one' }, { manager: 'two', apiVersion: 'autoscaling/v2', fieldsV1: { 'f:spec': { 'f:metrics': {} } } }
  ])
  t.equal(changed.metadata.managedFields[0].fieldsV1['f:spec']['f:targetCPUUtilizationPercentage'], undefined)
})

t.test('of more than ten updaters the oldest become ancient-changes', async t => {
  const server = await build(t)
  await server.post(`${CONFIGS}?fieldManager=first`, configMap('a', { first: '1' }))
  for (let at = 0; at < 11; at++) await server.patch(`${CONFIGS}/a?fieldManager=m${at}`, { data: { [`k${at}`]: '1' } })
  const owners = ownersOf((await server.get(`${CONFIGS}/a`)).json)
  t.equal(Object.keys(owners).length, 10)
  t.ok('Update ancient-changes' in owners && 'Update m10' in owners)
})

t.test('for lists that are always written, the sender of an empty one owns it, and it is returned as null', async t => {
  const server = await build(t)
  const kinds: ReadonlyArray<readonly [path: string, rest: Json, empty: Json, element: string]> = [
    [
      '/apis/discovery.orch.io/v1/namespaces/default/endpointslices', { addressType: 'IPv4' }, { endpoints: [] },
      '"f:endpoints":{}'
    ],
    [
      '/apis/discovery.orch.io/v1/namespaces/default/endpointslices', { addressType: 'IPv4' }, { ports: [] },
      '"f:ports":{}'
    ],
    [
      '/apis/discovery.orch.io/v1beta1/namespaces/default/endpointslices', { addressType: 'IPv4' }, { endpoints: [] },
      '"f:endpoints":{}'
    ],
    [
      '/apis/discovery.orch.io/v1beta1/namespaces/default/endpointslices', { addressType: 'IPv4' }, { ports: [] },
      '"f:ports":{}'
    ],
    ['/api/v1/namespaces/default/limitranges', {}, { spec: { limits: [] } }, '"f:spec":{"f:limits":{}}'],
    ['/apis/rbac.authorization.orch.io/v1/clusterroles', {}, { rules: [] }, '"f:rules":{}'],
    ['/apis/rbac.authorization.orch.io/v1/namespaces/default/roles', {}, { rules: [] }, '"f:rules":{}'],
    ['/apis/storage.orch.io/v1/csinodes', {}, { spec: { drivers: [] } }, '"f:spec":{"f:drivers":{}}']
  ]
  const nulls = (value: unknown): unknown => Array.isArray(value)
    ? null
    : Object.fromEntries(Object.entries(value as Json).map(([name, member]) => [name, nulls(member)]))
  for (const [at, [path, rest, empty, element]] of kinds.entries()) {
    const create = (name: string, body: Json): Promise<Answer> => server.post(
      `${path}?fieldManager=maker`, { ...rest, ...body, metadata: { name: `${name}-${at}`, labels: { a: 'b' } } }
    )
    const absent = await create('absent', 'spec' in empty ? { spec: {} } : {})
    t.match({ code: absent.code, json: absent.json }, { code: 201, json: nulls(empty) as Json }, path)
    t.notMatch(ownersOf(absent.json), { 'Update maker': element }, 'an absent list has no owner')
    const made = await create('empty', empty)
    t.match({ code: made.code, json: made.json }, { code: 201, json: nulls(empty) as Json }, path)
    t.ok(ownersOf(made.json)['Update maker']?.includes(element), path)
    t.same((await server.get(`${path}/empty-${at}`)).json, made.json)
    const { json: patched } = await server.patch(`${path}/absent-${at}?fieldManager=patcher`, empty)
    t.ok(ownersOf(patched)['Update patcher']?.includes(element), `${path}, by a patch`)
    t.match(patched, nulls(empty) as Json)
    t.same(
      (await server.patch(`${path}/absent-${at}?fieldManager=patcher`, empty)).json, patched,
      'once more changes nothing'
    )
    await server.patch(`${path}/absent-${at}`, { metadata: { finalizers: ['a/b'] } })
    await server.delete(`${path}/absent-${at}`)
    t.match(
      (await server.patch(`${path}/absent-${at}`, { ...empty, metadata: { finalizers: null } })).json,
      nulls(empty) as Json, 'removing the last finalizer deletes it'
    )
  }
})

t.test('the creator of a daemon set owns its template generation, and keeps it', async t => {
  const server = await build(t)
  const url = '/apis/apps/v1/namespaces/default/daemonsets'
  const set = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { app: 'a' } }, template } }
  const COUNT = { 'f:annotations': { '.': {}, 'f:deprecated.daemonset.template.generation': {} } }
  const { json: made } = await server.post(`${url}?fieldManager=maker`, set)
  t.same(
    [made.metadata.managedFields[0].fieldsV1['f:metadata'], made.metadata.annotations],
    [COUNT, { 'deprecated.daemonset.template.generation': '1' }]
  )
  const image = (name: string): Json => ({ spec: { template: { spec: { containers: [{ name: 'c', image: name }] } } } })
  await server.patch(`${url}/d?fieldManager=patcher`, image('i:2'))
  const { json } = await server.put(`${url}/d?fieldManager=putter`, {
    ...set, spec: { ...set.spec, ...image('i:3')['spec'], template: { ...template, ...image('i:3')['spec'].template } }
  })
  t.same(json.metadata.annotations, { 'deprecated.daemonset.template.generation': '3' })
  t.same(
    json.metadata.managedFields.map(({ manager, fieldsV1 }: Json) => [manager, fieldsV1['f:metadata']]).sort(),
    [['maker', COUNT], ['putter', undefined]]
  )
  const applied = await server.call(
    'PATCH', `${url}/e?fieldManager=me`, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...set, metadata: { name: 'e' } },
    { 'content-type': 'application/apply-patch+yaml' }
  )
  t.same(
    [applied.code, applied.json.metadata.annotations, applied.json.metadata.managedFields[0].fieldsV1['f:metadata']],
    [201, { 'deprecated.daemonset.template.generation': '1' }, undefined], 'an applier does not own it'
  )
})

t.test('the creator of an autoscaler without a target owns the default one', async t => {
  const server = await build(t)
  const hpa = {
    metadata: { name: 'h' },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } }
  }
  for (const [version, field] of [
    ['v1', 'f:targetCPUUtilizationPercentage'], ['v2', 'f:metrics'], ['v2beta2', 'f:metrics'], ['v2beta1', 'f:metrics']
  ] as const) {
    const { json } = await server.post(
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`,
      { ...hpa, metadata: { name: version } }
    )
    t.same(
      Object.keys(json.metadata.managedFields[0].fieldsV1['f:spec']).sort(),
      ['f:maxReplicas', 'f:minReplicas', 'f:scaleTargetRef', field].sort(), version
    )
  }
})

t.test('an entry that owns nothing asks for owners all the same', async t => {
  const server = await build(t)
  const { json: made } = await server.post(`${CONFIGS}?fieldManager=a`, configMap('a', { x: '1' }))
  const entry = { ...made.metadata.managedFields[0], fieldsV1: {} }
  t.same(
    ownersOf(
      (await server.put(`${CONFIGS}/a?fieldManager=b`, configMap('a', { x: '2' }, { managedFields: [entry] }))).json
    ),
    { 'Update b': '{"f:data":{"f:x":{}}}' }
  )
})
