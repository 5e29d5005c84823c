import t from 'tap'
import { Watch, types, listen, build, type Client, type Json } from '../build.js'
import { polled } from '../polled.js'

const CONFIGS = '/api/v1/namespaces/team/configmaps'

async function gone (server: Client, url: string): Promise<void> {
  await polled(async () => (await server.get(url)).code === 404)
}

async function there (server: Client, url: string): Promise<void> {
  await polled(async () => (await server.get(url)).code === 200)
}

t.test('the namespaces of the cluster exist, each with its default account', async t => {
  const server = await build(t)
  for (const name of ['default', 'orch-system', 'orch-public', 'orch-node-lease']) {
    t.match((await server.get(`/api/v1/namespaces/${name}`)).json, {
      metadata: { labels: { 'orch.io/metadata.name': name } },
      spec: { finalizers: ['orch'] },
      status: { phase: 'Active' }
    })
    await there(server, `/api/v1/namespaces/${name}/serviceaccounts/default`)
  }
  for (const name of ['default', 'orch-system', 'orch-public']) {
    t.match(await server.delete(`/api/v1/namespaces/${name}`), { code: 403, json: { reason: 'Forbidden' } })
  }
})

t.test('a deleted namespace is emptied, then removed', async t => {
  const server = await listen(t)
  await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  await there(server, '/api/v1/namespaces/team/serviceaccounts/default')
  for (let at = 0; at < 30; at++) await server.post(CONFIGS, { metadata: { name: `c${at}` } })
  await server.post('/apis/rbac.authorization.orch.io/v1/namespaces/team/roles', { metadata: { name: 'r' }, rules: [] })
  const watch = await Watch.open(t, `${server.url}/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3Dteam`)
  const deleted = await server.delete('/api/v1/namespaces/team')
  t.match(deleted.json, { kind: 'Namespace', metadata: { deletionTimestamp: /Z$/ }, status: { phase: 'Terminating' } })
  await gone(server, '/api/v1/namespaces/team')
  t.equal((await server.get('/api/v1/configmaps')).json.items.length, 0)
  t.equal((await server.get('/apis/rbac.authorization.orch.io/v1/roles')).json.items.length, 0)
  t.same(types(await watch.take(3)), ['ADDED team', 'MODIFIED team', 'DELETED team'])
  await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  t.equal((await server.get(CONFIGS)).json.items.length, 0, 'and its name can be used again')
})

t.test('the propagation policy of a terminating namespace cannot be changed', async t => {
  const server = await build(t)
  await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  await server.post(CONFIGS, { metadata: { name: 'held', finalizers: ['example.com/hold'] } })
  await server.delete('/api/v1/namespaces/team')
  for (const propagationPolicy of ['Foreground', 'Orphan']) {
    t.equal(
      (await server.delete('/api/v1/namespaces/team', { propagationPolicy })).json.metadata.finalizers, undefined,
      propagationPolicy
    )
  }
})

t.test('an empty namespace is Terminating before it is deleted', async t => {
  const server = await listen(t)
  await server.post('/api/v1/namespaces', { metadata: { name: 'bare' } })
  const watch = await Watch.open(t, `${server.url}/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3Dbare`)
  await server.put('/api/v1/namespaces/bare/finalize', { metadata: { name: 'bare' }, spec: { finalizers: [] } })
  t.match(await server.delete('/api/v1/namespaces/bare'), {
    code: 200, json: { metadata: { deletionTimestamp: /Z$/ }, status: { phase: 'Terminating' } }
  })
  const seen = await watch.take(4)
  t.same(types(seen), ['ADDED bare', 'MODIFIED bare', 'MODIFIED bare', 'DELETED bare'])
  t.same(seen.map(({ object }) => object.status.phase), ['Active', 'Active', 'Terminating', 'Terminating'])
})

t.test(
  'jobs and replication controllers go with their namespace, those that wait for their dependents to be orphaned, too',
  async t => {
    const server = await build(t)
    await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
    const spec = { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' }
    const jobs = '/apis/batch/v1/namespaces/team/jobs'
    await there(server, '/api/v1/namespaces/team/serviceaccounts/default')
    for (const name of ['a', 'b']) {
      t.equal((await server.post(jobs, { metadata: { name }, spec: { template: { spec } } })).code, 201)
    }
    await server.delete(`${jobs}/a`)
    t.same((await server.get(`${jobs}/a`)).json.metadata.finalizers, ['orphan'])
    await server.delete('/api/v1/namespaces/team')
    await gone(server, '/api/v1/namespaces/team')
    t.same((await server.get('/apis/batch/v1/jobs')).json.items, [])
  }
)

for (const [emulatedVersion, code] of [['1.24', 202], ['1.36', 200]] as const) {
  t.test(`the deletion of a namespace that something holds is ${code}, ${emulatedVersion}`, async t => {
    const server = await build(t, { emulatedVersion })
    for (const [options, expected] of [
      [undefined, code], [{ propagationPolicy: 'Background' }, code], [{ propagationPolicy: 'Foreground' }, code],
      [{ orphanDependents: false }, 202]
    ] as const) {
      await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
      await server.post(CONFIGS, { metadata: { name: 'held', finalizers: ['example.com/hold'] } })
      const going = { metadata: { name: 'team', deletionTimestamp: /Z$/ }, status: { phase: 'Terminating' } }
      t.match(
        await server.delete('/api/v1/namespaces/team', options), { code: expected, json: going },
        JSON.stringify(options)
      )
      t.match(await server.delete('/api/v1/namespaces/team', options), { code: expected, json: going }, 'again')
      await server.patch(`${CONFIGS}/held`, { metadata: { finalizers: null } })
      await server.patch('/api/v1/namespaces/team', { metadata: { finalizers: null } })
      await gone(server, '/api/v1/namespaces/team')
    }
  })
}

t.test('the conditions of a terminating namespace say what is left in it', async t => {
  const server = await build(t)
  await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  await server.post(CONFIGS, { metadata: { name: 'held', finalizers: ['example.com/hold'] } })
  await server.delete('/api/v1/namespaces/team')
  const told = async (): Promise<Json[]> => (await server.get('/api/v1/namespaces/team')).json.status.conditions ?? []
  while ((await told()).length === 0) await new Promise(resolve => { setTimeout(resolve, 5) })
  t.match((await told()).map(({ type, status, reason }) => [type, status, reason]), [
    ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered'],
    ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions'],
    ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted'],
    ['NamespaceContentRemaining', 'True', 'SomeResourcesRemain'],
    ['NamespaceFinalizersRemaining', 'True', 'SomeFinalizersRemain']
  ])
  t.match((await told())[3]?.['message'], 'configmaps. has 1 resource instances')
  t.match((await told())[4]?.['message'], 'example.com/hold in 1 resource instances')
  await server.patch(`${CONFIGS}/held`, { metadata: { finalizers: null } })
  await gone(server, '/api/v1/namespaces/team')
})

for (const emulatedVersion of ['1.24', '1.36'] as const) {
  t.test(`pods go first, the rest when none is left, ${emulatedVersion}`, async t => {
    const server = await build(t, { emulatedVersion })
    await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
    await there(server, '/api/v1/namespaces/team/serviceaccounts/default')
    await server.post(CONFIGS, { metadata: { name: 'needed' } })
    const pod = {
      metadata: { name: 'last', finalizers: ['example.com/hold'] }, spec: { containers: [{ name: 'c', image: 'i' }] }
    }
    t.equal((await server.post('/api/v1/namespaces/team/pods', pod)).code, 201)
    await server.delete('/api/v1/namespaces/team')
    const told = async (): Promise<Json[]> => (await server.get('/api/v1/namespaces/team')).json.status.conditions ?? []
    while ((await told()).length === 0) await new Promise(resolve => { setTimeout(resolve, 5) })
    t.match(await told(), [
      {}, {}, { type: 'NamespaceDeletionContentFailure', status: 'False' },
      { type: 'NamespaceContentRemaining', status: 'True', message: 'pods. has 1 resource instances' },
      { type: 'NamespaceFinalizersRemaining', status: 'True', message: 'example.com/hold in 1 resource instances' }
    ])
    t.notMatch((await told())[3]?.['message'], 'configmaps')
    t.equal((await server.get(`${CONFIGS}/needed`)).code, 200)
    await server.patch('/api/v1/namespaces/team/pods/last', { metadata: { finalizers: null } })
    await gone(server, '/api/v1/namespaces/team')
  })
}

t.test('nothing is created in a missing or terminating namespace', async t => {
  const server = await build(t)
  t.match(await server.post(CONFIGS, { metadata: { name: 'a' } }), {
    code: 404, json: { reason: 'NotFound', details: { kind: 'namespaces', name: 'team' } }
  })
  await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  await server.post(CONFIGS, { metadata: { name: 'held', finalizers: ['example.com/keep'] } })
  await server.delete('/api/v1/namespaces/team')
  t.match(await server.post(CONFIGS, { metadata: { name: 'late' } }), {
    code: 403, json: { details: { causes: [{ reason: 'NamespaceTerminating' }] } }
  })
  t.match(
    await server.post(CONFIGS, { metadata: { generateName: 'late-' } }),
    { code: 403, json: { details: { name: 'late-', kind: 'configmaps' } } },
    'an object without a name is named by its prefix'
  )
  t.equal(
    (await server.put('/apis/rbac.authorization.orch.io/v1/namespaces/team/roles/late', {
      metadata: { name: 'late' }, rules: []
    })).code,
    403,
    'not by PUT either'
  )
  t.equal(
    (await server.patch(`${CONFIGS}/held`, { data: { still: 'changed' } })).code, 200, 'existing objects can be changed'
  )
  t.equal((await server.get('/api/v1/namespaces/team')).code, 200, 'the namespace waits for objects with finalizers')
  while ((await server.get(`${CONFIGS}/held`)).json.metadata.deletionTimestamp === undefined) {
    await new Promise(resolve => { setTimeout(resolve, 5) })
  }
  await server.patch(`${CONFIGS}/held`, { metadata: { finalizers: null } })
  await gone(server, '/api/v1/namespaces/team')
})

t.test('a missing or terminating namespace is reported before any other error', async t => {
  const server = await build(t)
  const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const missing = {
    code: 404,
    json: { reason: 'NotFound', message: 'namespaces "gone" not found', details: { kind: 'namespaces', name: 'gone' } }
  }
  t.match(await server.post('/api/v1/namespaces/gone/pods', pod), missing, 'no account is looked for there')
  t.match(
    await server.post('/api/v1/namespaces/gone/configmaps', { metadata: { name: 'A_' } }), missing,
    'for an invalid object too'
  )
  t.match(await server.post('/api/v1/namespaces/gone/pods/a/binding', { metadata: { name: 'b' }, target: {} }), missing)
  t.match(await server.post('/api/v1/namespaces/gone/pods/a/eviction', { metadata: { name: 'b' } }), missing)
  t.match(await server.post('/api/v1/namespaces/gone/serviceaccounts/a/token', { spec: {} }), missing)
  await server.post('/api/v1/namespaces', { metadata: { name: 'team' } })
  await server.post(CONFIGS, { metadata: { name: 'held', finalizers: ['example.com/keep'] } })
  await server.delete('/api/v1/namespaces/team')
  const going = {
    code: 403, json: { details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] } }
  }
  t.match(await server.post(CONFIGS, { metadata: { name: 'A_' } }), going)
  t.match(await server.post('/api/v1/namespaces/team/pods/a/eviction', { metadata: { name: 'a' } }), going)
})

t.test('without NamespaceLifecycle namespaces are not checked', async t => {
  const server = await build(t, { admission: { disabled: ['NamespaceLifecycle'] } })
  t.equal((await server.post(CONFIGS, { metadata: { name: 'a' } })).code, 201)
})

t.test('status and finalize change only their own part', async t => {
  const server = await build(t)
  const { json } = await server.post('/api/v1/namespaces', {
    metadata: { name: 'team', labels: { a: '1' } }, spec: { finalizers: ['example.com/more'] }
  })
  t.same(json.spec.finalizers, ['example.com/more', 'orch'])
  const plain = await server.put('/api/v1/namespaces/team', {
    ...json,
    spec: { finalizers: [] },
    status: { phase: 'Terminating' },
    metadata: { ...json.metadata, labels: { ...json.metadata.labels, a: '2' } }
  })
  t.match(plain.json, {
    metadata: { labels: { a: '2' } }, spec: { finalizers: ['example.com/more', 'orch'] }, status: { phase: 'Active' }
  })
  const condition = { type: 'NamespaceContentRemaining', status: 'True' }
  const status = await server.patch('/api/v1/namespaces/team/status', {
    metadata: { labels: { a: '3' } }, spec: { finalizers: [] }, status: { conditions: [condition] }
  })
  t.match(status.json, { spec: { finalizers: ['example.com/more', 'orch'] }, status: { conditions: [condition] } })
  const finalized = await server.put('/api/v1/namespaces/team/finalize', {
    ...status.json, spec: { finalizers: ['orch'] }
  })
  t.match(finalized.json, { spec: { finalizers: ['orch'] } })
  t.equal((await server.get('/api/v1/namespaces/team/status')).json.kind, 'Namespace')
  t.equal((await server.get('/api/v1/namespaces/team/finalize')).code, 405)
})
