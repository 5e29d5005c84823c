import t from 'tap'
import { once } from 'node:events'
import { request } from 'node:http'
import { build, listen, type Json, type Client, type Answer } from '../../build.js'
import { polled } from '../../polled.js'

const PODS = '/api/v1/namespaces/default/pods'
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
const READY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }

async function withPod (server: Client, name: string, status: Json, labels: Json = { app: 'web' }): Promise<void> {
  await server.post(PODS, {
    metadata: { name, labels }, spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] }
  })
  await server.patch(`${PODS}/${name}/status`, { status })
}

async function withBudget (
  server: Client, name: string, status: Json, selector: Json = { matchLabels: { app: 'web' } }
): Promise<void> {
  await server.post(BUDGETS, { metadata: { name }, spec: { minAvailable: 1, selector } })
  const { code } = await server.patch(`${BUDGETS}/${name}/status`, {
    status: {
      observedGeneration: 1, expectedPods: 2, desiredHealthy: 1, currentHealthy: 2, disruptionsAllowed: 0, ...status
    }
  })
  if (code !== 200) throw new Error(`the status of ${name} could not be set`)
}

const evict = (server: Client, name: string, more: Json = {}, query = ''): Promise<Answer> =>
  server.post(`${PODS}/${name}/eviction${query}`, { metadata: { name }, ...more })
const leaves = async (server: Client, name: string): Promise<boolean> =>
  (await server.get(`${PODS}/${name}`)).json.metadata?.deletionTimestamp !== undefined

t.test('an eviction uses one disruption of the budget and deletes the pod', async t => {
  const server = await build(t)
  await withPod(server, 'p', READY)
  await withBudget(server, 'b', { disruptionsAllowed: 1 })
  const answer = await evict(server, 'p')
  t.match(answer, { code: 201, json: { kind: 'Status', status: 'Success' } })
  t.ok(await leaves(server, 'p'), 'with its grace period')
  const { status } = (await server.get(`${BUDGETS}/b`)).json
  t.equal(status.disruptionsAllowed, 0)
  t.same(Object.keys(status.disruptedPods), ['p'])
  t.match(status.conditions, [
    { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', observedGeneration: 1 }
  ])
})

t.test('a budget without room refuses with 429 and says why', async t => {
  const server = await build(t)
  await withPod(server, 'p', READY)
  await withBudget(server, 'b', { currentHealthy: 1 })
  const refused = await evict(server, 'p')
  t.match(refused, {
    code: 429,
    json: {
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          { reason: 'DisruptionBudget', message: 'The disruption budget b needs 1 healthy pods and has 1 currently' }
        ]
      }
    }
  })
  t.equal(refused.headers['retry-after'], undefined, 'clients that retry automatically would not report it')
  t.notOk(await leaves(server, 'p'))
})

t.test('a budget its controller has not looked at since it changed refuses until it has', async t => {
  const server = await build(t)
  await withPod(server, 'p', READY)
  await withBudget(server, 'b', { disruptionsAllowed: 1, observedGeneration: 0 })
  t.match(await evict(server, 'p'), {
    code: 429,
    headers: { 'retry-after': '10' },
    json: {
      details: {
        retryAfterSeconds: 10, causes: [{ message: 'The disruption budget b is still being processed by the server.' }]
      }
    }
  })
})

t.test('concurrent evictions succeed as often as the budget allows', async t => {
  const server = await build(t)
  const names = Array.from({ length: 8 }, (_, index) => `p${index}`)
  for (const name of names) await withPod(server, name, READY)
  await withBudget(server, 'b', { disruptionsAllowed: 3 })
  const codes = (await Promise.all(names.map(name => evict(server, name)))).map(({ code }) => code).sort()
  t.same(codes, [201, 201, 201, 429, 429, 429, 429, 429])
  t.equal(Object.keys((await server.get(`${BUDGETS}/b`)).json.status.disruptedPods).length, 3)
})

t.test('pods that disrupt nothing are evicted without a budget: pending, finished, terminating', async t => {
  const server = await build(t)
  await withBudget(server, 'b', {})
  for (const phase of ['Pending', 'Succeeded', 'Failed']) {
    await withPod(server, phase.toLowerCase(), { phase })
    t.equal((await evict(server, phase.toLowerCase())).code, 201, phase)
  }
  await withPod(server, 'going', READY)
  await server.delete(`${PODS}/going`)
  t.equal((await evict(server, 'going')).code, 201)
})

t.test('a pod that is not ready is evicted only if enough others are healthy', async t => {
  const server = await build(t)
  await withPod(server, 'p', { phase: 'Running' })
  await withBudget(server, 'b', { currentHealthy: 0 })
  t.equal((await evict(server, 'p')).code, 429)
  await server.patch(`${BUDGETS}/b/status`, { status: { currentHealthy: 1 } })
  t.equal((await evict(server, 'p')).code, 201)
})

t.test('a pod with several budgets cannot be evicted', async t => {
  const server = await build(t)
  await withPod(server, 'p', READY)
  for (const name of ['a', 'b']) await withBudget(server, name, { disruptionsAllowed: 1 })
  const refused = await evict(server, 'p')
  t.match(refused, { code: 500, json: { message: /more than one PodDisruptionBudget/ } })
  t.notOk('reason' in refused.json)
})

t.test('an empty selector covers every pod of the namespace in v1, and none in v1beta1', async t => {
  const server = await build(t)
  await withPod(server, 'p', READY, {})
  await withBudget(server, 'b', {}, {})
  t.equal((await evict(server, 'p')).code, 429)
  await server.delete(`${BUDGETS}/b`)
  await server.post(BUDGETS.replace('v1', 'v1beta1'), {
    metadata: { name: 'b' }, spec: { minAvailable: 1, selector: {} }
  })
  t.equal((await evict(server, 'p')).code, 201)
})

t.test('both versions of policy are taken, others and wrong names are not', async t => {
  const server = await build(t)
  for (const [name, apiVersion] of [['p', 'policy/v1'], ['q', 'policy/v1beta1']] as const) {
    await withPod(server, name, READY)
    t.equal((await evict(server, name, { apiVersion, kind: 'Eviction' })).code, 201, apiVersion)
  }
  await withPod(server, 'r', READY)
  t.equal((await evict(server, 'r', { apiVersion: 'policy/v2', kind: 'Eviction' })).code, 400)
  t.equal((await evict(server, 'r', { metadata: { name: 's' } })).code, 400)
  t.equal((await evict(server, 'none')).code, 404)
})

t.test('options of the deletion hold: preconditions, grace period, dry run in either place', async t => {
  const server = await build(t)
  await withPod(server, 'p', READY)
  await withBudget(server, 'b', { disruptionsAllowed: 1 })
  t.equal((await evict(server, 'p', {}, '?dryRun=All')).code, 201)
  t.equal((await evict(server, 'p', { deleteOptions: { dryRun: ['Some'] } }, '?dryRun=All')).code, 400)
  t.equal((await evict(server, 'p', { deleteOptions: { dryRun: ['All'] } })).code, 201)
  t.equal((await server.get(`${BUDGETS}/b`)).json.status.disruptionsAllowed, 1)
  t.notOk(await leaves(server, 'p'))
  t.equal((await evict(server, 'p', { deleteOptions: { gracePeriodSeconds: 0 } })).code, 201)
  t.equal((await server.get(`${PODS}/p`)).code, 404, 'without a grace period it is removed at once')
  await withPod(server, 'q', { phase: 'Failed' })
  t.equal((await evict(server, 'q', { deleteOptions: { preconditions: { uid: 'another' } } })).code, 409)
})

t.test('nothing is evicted in a terminating namespace, and the refusal names it', async t => {
  const server = await build(t)
  await server.post('/api/v1/namespaces', { metadata: { name: 'n' }, spec: {} })
  const pods = '/api/v1/namespaces/n/pods'
  await server.post(pods, {
    metadata: { name: 'p', finalizers: ['example.com/kept'] }, spec: { containers: [{ name: 'c', image: 'i' }] }
  })
  await server.delete('/api/v1/namespaces/n')
  t.match(await server.post(`${pods}/p/eviction`, { metadata: { name: 'p' } }), {
    code: 403, json: { details: { causes: [{ reason: 'NamespaceTerminating' }] } }
  })
})

t.test('a pod whose disruption was taken is deleted, although the client of its eviction has left', async t => {
  let leave = (): void => {}
  let waits = false
  const plugin = {
    name: 'Waits',
    handles: [{ operations: ['UPDATE'] as const, groups: ['policy'], resources: ['poddisruptionbudgets/status'] }],
    async validate ({ signal }: { readonly signal: AbortSignal }): Promise<void> {
      leave()
      if (waits && !signal.aborted) await once(signal, 'abort')
    }
  }
  const server = await listen(t, { admission: { plugins: [plugin] } })
  await withPod(server, 'p', READY)
  await withBudget(server, 'b', { disruptionsAllowed: 1 })
  waits = true
  const headers = { 'content-type': 'application/json' }
  const sent = request(`${server.url}${PODS}/p/eviction`, { method: 'POST', headers })
  sent.on('error', () => {})
  leave = () => { sent.destroy() }
  sent.end(JSON.stringify({ metadata: { name: 'p' } }))
  await polled(async () => await leaves(server, 'p'))
  t.equal((await server.get(`${BUDGETS}/b`)).json.status.disruptionsAllowed, 0)
})

t.test('under 1.36 a pod says that it is evicted before it goes', async t => {
  for (const [emulatedVersion, conditions] of [
    ['1.24', []],
    [
      '1.36',
      [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' }]
    ]
  ] as const) {
    const server = await build(t, { emulatedVersion })
    for (const [name, status] of [['ready', READY], ['unready', { phase: 'Running' }]] as const) {
      await withPod(server, name, status)
      await withBudget(server, 'b', { disruptionsAllowed: 1 })
      t.equal((await evict(server, name, {}, '?dryRun=All')).code, 201)
      t.notMatch((await server.get(`${PODS}/${name}`)).body, 'DisruptionTarget')
      const { metadata: { uid, resourceVersion } } = (await server.get(`${PODS}/${name}`)).json
      for (const preconditions of name === 'ready' ? [{ uid: 'other' }, { resourceVersion: '1' }] : []) {
        t.equal((await evict(server, name, { deleteOptions: { preconditions } })).code, 409)
        t.notMatch((await server.get(`${PODS}/${name}`)).body, 'DisruptionTarget')
      }
      t.equal(
        (await evict(server, name, { deleteOptions: { preconditions: { uid, resourceVersion } } })).code, 201, name
      )
      const { metadata, status: { conditions: found = [] } } = (await server.get(`${PODS}/${name}`)).json
      t.ok(metadata.deletionTimestamp)
      t.match((found as Json[]).filter(({ type }) => type === 'DisruptionTarget'), conditions)
    }
  }
})

t.test('under 1.36 pending and finished pods say so too, and need no budget', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  await withBudget(server, 'b', {})
  for (const phase of ['Pending', 'Succeeded', 'Failed']) {
    const name = phase.toLowerCase()
    await withPod(server, name, { phase })
    await server.patch(`${PODS}/${name}`, { metadata: { finalizers: ['example.com/kept'] } })
    t.equal((await evict(server, name)).code, 201, phase)
    const { metadata, status } = (await server.get(`${PODS}/${name}`)).json
    t.ok(metadata.deletionTimestamp, phase)
    t.match(
      status, { phase, conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }] },
      phase
    )
  }
})

t.test('under 1.36 a budget may let unready pods go whatever is left', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  await withPod(server, 'unready', { phase: 'Running' })
  await withBudget(server, 'b', { currentHealthy: 0 })
  t.equal((await evict(server, 'unready')).code, 429)
  t.match(await server.patch(`${BUDGETS}/b`, { spec: { unhealthyPodEvictionPolicy: 'Sometimes' } }), {
    code: 422,
    json: { details: { causes: [{ reason: 'FieldValueNotSupported', field: 'spec.unhealthyPodEvictionPolicy' }] } }
  })
  t.equal((await server.patch(`${BUDGETS}/b`, { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } })).code, 200)
  t.equal((await evict(server, 'unready')).code, 201)
  t.equal((await server.get(`${BUDGETS}/b`)).json.status.disruptedPods, undefined)
})
