import t from 'tap'
import { BINDINGS, binding, build } from '../build.js'

t.test('an object is created, read, updated and deleted', async t => {
  const server = await build(t)
  const made = await server.post(BINDINGS, binding('one'))
  t.equal(made.code, 201)
  t.match(made.json, {
    kind: 'ClusterRoleBinding',
    metadata: {
      name: 'one',
      uid: /^[0-9a-f-]{36}$/,
      resourceVersion: /^\d+$/,
      creationTimestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
    },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: 'ann' }]
  })
  t.ok(made.body.endsWith('\n'))
  t.equal((await server.get(`${BINDINGS}/one`)).body, made.body, 'get sends the very bytes that create sent')

  const changed = { ...made.json, subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }] }
  const updated = await server.put(`${BINDINGS}/one`, changed)
  t.equal(updated.code, 200)
  t.same(updated.json.subjects, [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }])
  t.ok(Number(updated.json.metadata.resourceVersion) > Number(made.json.metadata.resourceVersion))
  t.equal(updated.json.metadata.uid, made.json.metadata.uid)

  const stale = await server.put(`${BINDINGS}/one`, changed)
  t.equal(stale.code, 409)
  t.match(stale.json, {
    kind: 'Status',
    status: 'Failure',
    reason: 'Conflict',
    details: { name: 'one', group: 'rbac.authorization.orch.io', kind: 'clusterrolebindings' }
  })

  const gone = await server.delete(`${BINDINGS}/one`)
  t.equal(gone.code, 200)
  t.match(gone.json, { kind: 'Status', status: 'Success', details: { name: 'one', uid: made.json.metadata.uid } })
  t.equal((await server.get(`${BINDINGS}/one`)).code, 404)
  t.equal((await server.delete(`${BINDINGS}/one`)).json.reason, 'NotFound')
})

t.test('a name is unique', async t => {
  const server = await build(t)
  await server.post(BINDINGS, binding('one'))
  const again = await server.post(BINDINGS, binding('one'))
  t.equal(again.code, 409)
  t.equal(again.json.reason, 'AlreadyExists')
  await server.delete(`${BINDINGS}/one`)
  t.equal((await server.post(BINDINGS, binding('one'))).code, 201, 'and can be used again after its deletion')
})

t.test('generateName makes a random name, and a given name takes precedence', async t => {
  const server = await build(t)
  const { metadata, ...rest } = binding('')
  const made = await Promise.all(Array.from(
    { length: 20 }, () => server.post(BINDINGS, { ...rest, metadata: { generateName: 'team-' } })
  ))
  const names = made.map(({ json }) => String(json.metadata.name))
  t.equal(new Set(names).size, 20)
  for (const name of names) t.match(name, /^team-[a-z0-9]{5}$/)
  t.equal(
    (await server.post(BINDINGS, { ...rest, metadata: { name: 'own', generateName: 'team-' } })).json.metadata.name,
    'own'
  )
  t.match((await server.post(BINDINGS, { ...rest, metadata: {} })).json.details.causes, [
    { reason: 'FieldValueRequired', field: 'metadata.name' }
  ])
})

t.test('missing required fields are refused, each by its path', async t => {
  const server = await build(t)
  const bad = await server.post(BINDINGS, { metadata: { name: 'one' }, subjects: [{ kind: 'Robot', name: '' }] })
  t.equal(bad.code, 422)
  const fields = (bad.json.details.causes as Array<{ field: string }>).map(({ field }) => field)
  for (const field of ['roleRef.apiGroup', 'roleRef.kind', 'roleRef.name', 'subjects[0].kind', 'subjects[0].name']) {
    t.ok(fields.includes(field), field)
  }
  t.equal(
    (await server.post(
      BINDINGS, binding('x', { roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'r' } })
    )).code,
    422,
    'a Role cannot be bound to the cluster'
  )
})

t.test('the role cannot be changed', async t => {
  const server = await build(t)
  const { json } = await server.post(BINDINGS, binding('one'))
  const other = await server.put(`${BINDINGS}/one`, { ...json, roleRef: { ...json.roleRef, name: 'admin' } })
  t.equal(other.code, 422)
  t.match(other.json.details.causes, [{ field: 'roleRef' }])
})

t.test('names are checked', async t => {
  const server = await build(t)
  for (const name of ['.', '..', 'a/b', 'a%b']) t.equal((await server.post(BINDINGS, binding(name))).code, 422, name)
  t.equal((await server.post(BINDINGS, binding('system:node-ü'))).code, 201)
  t.equal((await server.get(`${BINDINGS}/${encodeURIComponent('system:node-ü')}`)).code, 200)
  t.equal((await server.post(BINDINGS, binding('a'.repeat(250)))).code, 201)
  t.equal((await server.get(`${BINDINGS}/${'a'.repeat(250)}`)).code, 200, 'a long name is found by its path')
})

t.test('PUT of a missing name creates it, and the name must match the path', async t => {
  const server = await build(t)
  t.equal((await server.put(`${BINDINGS}/new`, binding('new'))).code, 201)
  t.equal((await server.put(`${BINDINGS}/new`, binding('new'))).code, 200, 'an update without a version is taken')
  t.match(await server.put(`${BINDINGS}/new`, binding('other')), { code: 400, json: { reason: 'BadRequest' } })
  t.match(await server.put(`${BINDINGS}/new`, binding('new', { metadata: { uid: 'not-its-own' } })), {
    code: 409, json: { reason: 'Conflict' }
  })
})

t.test('an update that changes nothing writes nothing', async t => {
  const server = await build(t)
  const { json } = await server.post(BINDINGS, binding('one'))
  const again = await server.put(`${BINDINGS}/one`, json)
  t.equal(again.json.metadata.resourceVersion, json.metadata.resourceVersion)
})

t.test('merge and JSON patches change the object', async t => {
  const server = await build(t)
  await server.post(BINDINGS, binding('one', { metadata: { labels: { a: '1', b: '2' } } }))
  const merged = await server.patch(`${BINDINGS}/one`, { metadata: { labels: { a: null, c: '3' } } })
  t.equal(merged.code, 200)
  t.same(merged.json.metadata.labels, { b: '2', c: '3' })
  const type = 'application/json-patch+json'
  const patched = await server.patch(
    `${BINDINGS}/one`,
    [
      { op: 'test', path: '/metadata/labels/b', value: '2' },
      { op: 'add', path: '/subjects/-', value: { kind: 'Group', name: 'g' } }
    ],
    type
  )
  t.match(patched.json.subjects, [
    { name: 'ann' }, { kind: 'Group', name: 'g', apiGroup: 'rbac.authorization.orch.io' }
  ])
  t.equal(
    (await server.patch(`${BINDINGS}/one`, [{ op: 'test', path: '/metadata/labels/b', value: 'x' }], type)).code, 422
  )
  t.equal((await server.patch(`${BINDINGS}/one`, [{ op: 'remove', path: '/metadata/labels/none' }], type)).code, 422)
  t.equal((await server.patch(`${BINDINGS}/one`, { op: 'remove' }, type)).code, 400)
  t.equal((await server.patch(`${BINDINGS}/one`, [{ op: 'unknown', path: '/x' }], type)).code, 422)
  t.equal((await server.patch(`${BINDINGS}/one`, { metadata: { name: 'two' } })).code, 400)
  t.equal((await server.patch(`${BINDINGS}/one`, { metadata: { resourceVersion: '1' } })).code, 409)
  t.equal((await server.patch(`${BINDINGS}/none`, {})).code, 404)
  t.equal((await server.patch(`${BINDINGS}/one`, {}, 'text/plain')).code, 415)
})

t.test('concurrent patches without a version all take effect', async t => {
  const server = await build(t)
  await server.post(BINDINGS, binding('one'))
  const codes = await Promise.all(Array.from(
    { length: 50 },
    async (_, at) => (await server.patch(`${BINDINGS}/one`, { metadata: { labels: { [`l${at}`]: 'x' } } })).code
  ))
  t.ok(codes.every(code => code === 200))
  t.equal(Object.keys((await server.get(`${BINDINGS}/one`)).json.metadata.labels).length, 50)
})

t.test('an object with finalizers is marked first and removed with the last of them', async t => {
  const server = await build(t)
  await server.post(BINDINGS, binding('held', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } }))
  const marked = await server.delete(`${BINDINGS}/held`)
  t.equal(marked.code, 202)
  t.match(marked.json, {
    kind: 'ClusterRoleBinding', metadata: { deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0 }
  })
  const again = await server.delete(`${BINDINGS}/held`)
  t.equal(again.json.metadata.resourceVersion, marked.json.metadata.resourceVersion, 'a second delete changes nothing')
  t.equal(
    (await server.patch(`${BINDINGS}/held`, {
      metadata: { finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] }
    })).code,
    422,
    'no finalizer is added to it'
  )
  t.equal(
    (await server.patch(`${BINDINGS}/held`, { metadata: { deletionTimestamp: null } })).json.metadata.deletionTimestamp,
    marked.json.metadata.deletionTimestamp, 'the mark stays'
  )
  t.equal((await server.patch(`${BINDINGS}/held`, { metadata: { finalizers: ['example.com/b'] } })).code, 200)
  t.equal((await server.get(`${BINDINGS}/held`)).code, 200)
  t.equal((await server.patch(`${BINDINGS}/held`, { metadata: { finalizers: null } })).code, 200)
  t.equal((await server.get(`${BINDINGS}/held`)).code, 404)
})

t.test('preconditions and policies of a delete', async t => {
  const server = await build(t)
  const { json } = await server.post(BINDINGS, binding('one'))
  t.equal((await server.delete(`${BINDINGS}/one`, { preconditions: { uid: 'other' } })).code, 409)
  t.equal((await server.delete(`${BINDINGS}/one`, { preconditions: { resourceVersion: '1' } })).code, 409)
  t.equal((await server.delete(`${BINDINGS}/one?propagationPolicy=Sideways`)).code, 422)
  t.equal((await server.delete(`${BINDINGS}/one`, { propagationPolicy: 'Orphan', orphanDependents: true })).code, 422)
  t.equal((await server.delete(`${BINDINGS}/one?gracePeriodSeconds=soon`)).code, 400)
  const orphaning = await server.delete(`${BINDINGS}/one`, { propagationPolicy: 'Orphan' })
  t.match(orphaning, { code: 202, json: { metadata: { finalizers: ['orphan'] } } })
  await server.patch(`${BINDINGS}/one`, { metadata: { finalizers: null } })
  await server.post(BINDINGS, binding('two'))
  const two = await server.get(`${BINDINGS}/two`)
  t.equal(
    (await server.delete(`${BINDINGS}/two`, {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: two.json.metadata.uid, resourceVersion: two.json.metadata.resourceVersion },
      propagationPolicy: 'Background'
    })).code,
    200
  )
  t.not(json.metadata.uid, two.json.metadata.uid)
})

t.test('deletecollection deletes the selected objects', async t => {
  const server = await build(t, { limits: { deleteCollectionWorkers: 4 } })
  for (let at = 0; at < 10; at++) {
    await server.post(BINDINGS, binding(`b${at}`, { metadata: { labels: { odd: String(at % 2 === 1) } } }))
  }
  const dry = await server.delete(`${BINDINGS}?labelSelector=odd%3Dtrue&dryRun=All`)
  t.match(dry, { code: 200, json: { kind: 'Status', status: 'Success' } })
  t.equal((await server.get(BINDINGS)).json.items.length, 10)
  t.equal((await server.delete(`${BINDINGS}?labelSelector=odd%3Dtrue`)).code, 200)
  t.same(
    (await server.get(BINDINGS)).json.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['b0', 'b2', 'b4', 'b6', 'b8']
  )
  t.equal((await server.delete(`${BINDINGS}?limit=2`)).code, 200)
  t.equal((await server.get(BINDINGS)).json.items.length, 3)
  t.equal((await server.delete(`${BINDINGS}?fieldSelector=metadata.name%3Db8`)).code, 200)
  t.equal((await server.delete(`${BINDINGS}?fieldSelector=nothing%3Db8`)).code, 400)
  t.equal((await server.get(BINDINGS)).json.items.length, 2)
})

t.test('unknown and duplicate fields are treated as fieldValidation says', async t => {
  const server = await build(t)
  const body = (name: string): string =>
    `{"metadata":{"name":"${name}","name":"${name}"},"color":"blue",` +
    '"roleRef":{"apiGroup":"rbac.authorization.orch.io","kind":"ClusterRole","name":"x"}}'
  const warned = await server.post(BINDINGS, body('a'))
  t.equal(warned.code, 201)
  t.match(String(warned.headers.warning), /299 - "unknown field .*color/)
  t.match(String(warned.headers.warning), /duplicate field .*metadata\.name/)
  t.equal((await server.post(`${BINDINGS}?fieldValidation=Ignore`, body('b'))).headers.warning, undefined)
  t.match(await server.post(`${BINDINGS}?fieldValidation=Strict`, body('c')), {
    code: 400, json: { message: /unknown field.*color/ }
  })
  t.equal((await server.post(`${BINDINGS}?fieldValidation=Maybe`, body('d'))).code, 422)
  t.match(await server.patch(`${BINDINGS}/a?fieldValidation=Strict`, { color: 'red' }), {
    code: 422,
    json: { details: { causes: [{ field: 'patch', message: /strict decoding error: unknown field "color"$/ }] } }
  })
  const operations = '[{"op":"add","path":"/metadata/labels","value":{},"why":"because","op":"add"}]'
  const type = 'application/json-patch+json'
  t.match(await server.patch(`${BINDINGS}/a?fieldValidation=Strict`, operations, type), {
    code: 422,
    json: {
      details: {
        causes: [
          { field: 'patch', message: /json patch unknown field "\[0\]\.why", json patch duplicate field "\[0\]\.op"$/ }
        ]
      }
    }
  })
  t.match(String((await server.patch(`${BINDINGS}/a`, operations, type)).headers.warning), /json patch unknown field/)
  t.equal((await server.patch(`${BINDINGS}/a?fieldValidation=Ignore`, operations, type)).headers.warning, undefined)
})

t.test('dry runs do everything but the write', async t => {
  const server = await build(t)
  t.match(await server.post(`${BINDINGS}?dryRun=All`, binding('dry')), {
    code: 201, json: { metadata: { name: 'dry', uid: /./ } }
  })
  t.equal((await server.get(`${BINDINGS}/dry`)).code, 404)
  const { json } = await server.post(`${BINDINGS}?dryRun&pretty=true`, binding('dry'))
  t.equal((await server.get(`${BINDINGS}/dry`)).code, 200, 'an empty value is a real request')
  t.equal((await server.post(`${BINDINGS}?dryRun=All`, binding('dry'))).code, 409)
  t.equal((await server.post(`${BINDINGS}?dryRun=All`, { metadata: { name: 'x' } })).code, 422)
  t.match(await server.put(`${BINDINGS}/dry?dryRun=All`, { ...json, subjects: [] }), { code: 200 })
  t.match(await server.put(`${BINDINGS}/fresh?dryRun=All`, binding('fresh')), { code: 201 })
  t.match(
    await server.call(
      'PATCH', `${BINDINGS}/dry?dryRun=All`, { metadata: { labels: { a: 'b' } } },
      { 'content-type': 'application/merge-patch+json' }
    ),
    { code: 200, json: { metadata: { labels: { a: 'b' } } } }
  )
  t.equal((await server.delete(`${BINDINGS}/dry?dryRun=All`)).code, 200)
  t.equal(
    (await server.delete(`${BINDINGS}/dry`, { dryRun: ['All'] })).code, 200, 'in the options of a delete it counts too'
  )
  t.equal((await server.get(`${BINDINGS}/dry`)).json.metadata.resourceVersion, json.metadata.resourceVersion)
  t.equal((await server.post(`${BINDINGS}?dryRun=Some`, binding('x'))).code, 400)
  t.equal((await server.delete(`${BINDINGS}/dry`, { dryRun: ['Some'] })).code, 400)
})

t.test('unsupported methods of a path are 405', async t => {
  const server = await build(t)
  t.equal((await server.post(`${BINDINGS}/one`, binding('one'))).code, 405)
  t.equal((await server.put(BINDINGS, binding('one'))).code, 405)
  t.equal((await server.delete('/api/v1/namespaces')).code, 405)
  t.equal(
    (await server.post('/api/v1/configmaps', {})).code, 405, 'namespaced objects are created below their namespace'
  )
  t.equal((await server.get(`${BINDINGS}/one/status`)).code, 404)
  t.equal((await server.get('/apis/rbac.authorization.orch.io/v2/clusterrolebindings')).code, 404)
})
