/** Interface, 'Common object metadata' and 'Object names'. */
import t from 'tap'
import { BINDINGS, build, binding, type Json } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

t.test('name is unique; a generated one is random and keeps its prefix', async t => {
  const server = await build(t)
  t.equal((await server.post(BINDINGS, binding('same'))).code, 201)
  t.equal((await server.post(BINDINGS, binding('same'))).json.reason, 'AlreadyExists')
  const names = new Set<string>()
  for (let index = 0; index < 30; index++) {
    const { code, json } = await server.post(BINDINGS, { ...binding(''), metadata: { generateName: 'made-' } })
    t.equal(code, 201)
    t.match(json.metadata, { name: /^made-[a-z0-9]+$/, generateName: 'made-' })
    names.add(json.metadata.name)
  }
  t.equal(names.size, 30)
  t.equal((await server.post(BINDINGS, { ...binding(''), metadata: {} })).code, 422, 'one of the two is needed')
})

t.test('a limit range may do without a name, and gets one', async t => {
  const server = await build(t)
  const LIMITS = '/api/v1/namespaces/default/limitranges'
  const { code, json } = await server.post(LIMITS, { spec: { limits: [] } })
  t.match([code, json['metadata'].name], [201, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/])
  t.equal((await server.get(`${LIMITS}/${String(json['metadata'].name)}`)).code, 200)
  t.match(
    (await server.post(LIMITS, { metadata: { generateName: 'a-' }, spec: { limits: [] } })).json['metadata'],
    { name: /^a-/ }
  )
})

t.test('a name is unique by kind and namespace, and free again after its object is deleted', async t => {
  const server = await build(t)
  await server.post('/api/v1/namespaces', { metadata: { name: 'other' } })
  for (const url of [
    CONFIGS, '/api/v1/namespaces/other/configmaps', '/api/v1/namespaces/default/secrets',
    '/apis/rbac.authorization.orch.io/v1/clusterroles', '/apis/rbac.authorization.orch.io/v1/namespaces/default/roles'
  ]) {
    t.equal((await server.post(url, { metadata: { name: 'shared' } })).code, 201, url)
    t.equal((await server.post(url, { metadata: { name: 'shared' } })).code, 409, url)
    const before = (await server.get(`${url}/shared`)).json.metadata.uid
    t.equal((await server.delete(`${url}/shared`)).code, 200)
    const again = await server.post(url, { metadata: { name: 'shared' } })
    t.equal(again.code, 201)
    t.not(again.json.metadata.uid, before, 'the next object of that name is another one')
  }
})

t.test('namespace is that of the path', async t => {
  const server = await build(t)
  t.equal((await server.post(CONFIGS, { metadata: { name: 'a' } })).json.metadata.namespace, 'default')
  t.equal(
    (await server.post(CONFIGS, { metadata: { name: 'b', namespace: 'default' } })).json.metadata.namespace, 'default'
  )
  t.equal((await server.post(CONFIGS, { metadata: { name: 'c', namespace: 'orch-system' } })).code, 400)
  t.equal((await server.post(BINDINGS, binding('a'))).json.metadata.namespace, undefined)
  const cleared = await server.post(BINDINGS, binding('b', { metadata: { namespace: 'default' } }))
  t.match(cleared, { code: 201, json: { metadata: { namespace: undefined } } }, 'cluster-scoped objects have none')
})

t.test('clients cannot set fields that the server generates', async t => {
  const server = await build(t)
  const before = Date.now() - 2000
  const { json } = await server.post(BINDINGS, binding('a', {
    metadata: {
      uid: 'mine',
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 5,
      selfLink: '/x',
      generation: 7,
      managedFields: [{ manager: 'm', operation: 'Update' }]
    }
  }))
  t.match(json.metadata, { uid: UID, creationTimestamp: TIME, resourceVersion: /^\d+$/ })
  t.ok(Math.abs(Date.parse(json.metadata.creationTimestamp) - before) < 60_000)
  for (const name of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink']) {
    t.equal(json.metadata[name], undefined, name)
  }
  t.notMatch(json.metadata.managedFields, [{ manager: 'm' }])
  t.equal(
    (await server.post(BINDINGS, binding('b', { metadata: { resourceVersion: '5' } }))).code, 400,
    'a new object cannot have a resourceVersion'
  )
  const uids = new Set([json.metadata.uid])
  for (const name of ['c', 'd', 'e']) uids.add((await server.post(BINDINGS, binding(name))).json.metadata.uid)
  t.equal(uids.size, 4)
})

t.test('uid and creationTimestamp stay, through every kind of change', async t => {
  const server = await build(t)
  const { json: made } = await server.post(BINDINGS, binding('a'))
  const { uid, creationTimestamp } = made.metadata
  for (const [title, answer] of [
    ['PUT', await server.put(`${BINDINGS}/a`, binding('a', { metadata: { labels: { a: '1' } } }))],
    ['merge patch', await server.patch(`${BINDINGS}/a`, { metadata: { labels: { a: '2' } } })],
    [
      'JSON patch',
      await server.patch(`${BINDINGS}/a`, [{ op: 'remove', path: '/metadata/labels' }], 'application/json-patch+json')
    ]
  ] as const) t.match(answer, { code: 200, json: { metadata: { uid, creationTimestamp } } }, title)
  t.equal((await server.put(`${BINDINGS}/a`, binding('a', { metadata: { uid: 'other' } }))).code, 409)
  t.match(
    await server.patch(`${BINDINGS}/a`, { metadata: { creationTimestamp: '2001-01-01T00:00:00Z' } }),
    { code: 200, json: { metadata: { creationTimestamp } } }
  )
})

t.test('resourceVersion changes with each modification of the object, and only then', async t => {
  const server = await build(t)
  const versions: string[] = [(await server.post(BINDINGS, binding('a'))).json.metadata.resourceVersion]
  for (let index = 0; index < 5; index++) {
    versions.push(
      (await server.patch(`${BINDINGS}/a`, {
        metadata: { labels: { index: String(index) } }
      })).json.metadata.resourceVersion
    )
  }
  t.equal(new Set(versions).size, 6)
  t.equal((await server.get(`${BINDINGS}/a`)).json.metadata.resourceVersion, versions.at(-1))
  await server.post(BINDINGS, binding('b'))
  t.equal(
    (await server.get(`${BINDINGS}/a`)).json.metadata.resourceVersion, versions.at(-1),
    'another object is another matter'
  )
  t.equal(
    (await server.patch(`${BINDINGS}/a`, { metadata: { labels: { index: '4' } } })).json.metadata.resourceVersion,
    versions.at(-1), 'a patch without effect changes no version'
  )
  t.equal(
    (await server.put(`${BINDINGS}/a`, binding('a', { metadata: { resourceVersion: versions[0] } }))).json.reason,
    'Conflict'
  )
  t.equal(
    (await server.put(`${BINDINGS}/a`, binding('a', { metadata: { resourceVersion: versions.at(-1) } }))).code, 200
  )
  t.equal((await server.put(`${BINDINGS}/a`, binding('a', { metadata: { labels: { without: 'version' } } }))).code, 200)
})

t.test('finalizers are shared: every client may change and reorder them', async t => {
  const server = await build(t)
  await server.post(BINDINGS, binding('a', { metadata: { finalizers: ['example.com/one', 'example.com/two'] } }))
  t.same(
    (await server.patch(`${BINDINGS}/a`, {
      metadata: { finalizers: ['example.com/two', 'example.com/three', 'example.com/one'] }
    })).json.metadata.finalizers,
    ['example.com/two', 'example.com/three', 'example.com/one']
  )
  t.same((await server.patch(`${BINDINGS}/a`, { metadata: { finalizers: null } })).json.metadata.finalizers, undefined)
  t.equal((await server.patch(`${BINDINGS}/a`, { metadata: { finalizers: ['no domain'] } })).code, 422)
})

t.test('labels and annotations are string maps, held to the rules of their keys', async t => {
  const server = await build(t)
  const labels = { app: 'web', 'example.com/tier': 'front', empty: '', 'A.b_c-1': 'V.a_l-1' }
  const annotations = { any: 'text of any kind\n{"json": true} \u00fc \u{1f600}', 'example.com/x': '' }
  const { code, json } = await server.post(BINDINGS, binding('a', { metadata: { labels, annotations } }))
  t.equal(code, 201)
  t.same(json.metadata.labels, labels)
  t.same(json.metadata.annotations, annotations)
  for (const [field, map] of Object.entries({
    labels: [
      { '-a': '' }, { a: '-' }, { a: 'x'.repeat(64) }, { ['x'.repeat(64)]: '' }, { 'a/b/c': '' },
      { 'EXAMPLE.com/a': '' }, { '': '' }
    ],
    annotations: [{ '-a': '' }, { 'a b': '' }, { '': '' }, { a: 'x'.repeat(256 * 1024) }]
  })) {
    for (const bad of map) {
      const { code, json } = await server.post(BINDINGS, binding('b', { metadata: { [field]: bad } }))
      t.equal(code, 422, JSON.stringify(bad).slice(0, 50))
      t.ok((json.details.causes as Json[]).some(cause => String(cause.field).startsWith(`metadata.${field}`)))
    }
  }
})

t.test('the server maintains managedFields: the creator of an object owns its fields', async t => {
  const server = await build(t)
  const managedFields = [
    {
      manager: 'me',
      operation: 'Update',
      apiVersion: 'rbac.authorization.orch.io/v1',
      time: '2021-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:subjects': {} }
    }
  ]
  const { json } = await server.post(`${BINDINGS}?fieldManager=me`, binding('a', { metadata: { managedFields } }))
  t.match(json.metadata.managedFields, [
    { manager: 'me', operation: 'Update', fieldsV1: { 'f:subjects': {}, 'f:roleRef': {} } }
  ])
  t.not(json.metadata.managedFields[0].time, managedFields[0]?.time)
  t.same(
    (await server.put(`${BINDINGS}/a`, binding('a'))).json, json, 'and an update that does not name them leaves them'
  )
})
