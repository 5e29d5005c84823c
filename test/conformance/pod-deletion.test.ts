/** Silent points, 'deletion with a grace period': pods get one, which can only be shortened. */
import t from 'tap'
import { Watch, types, listen, build, type Client, type Json } from '../build.js'

const PODS = '/api/v1/namespaces/default/pods'

async function withPod (t: Parameters<typeof build>[0], spec: Json = {}, metadata: Json = {}): Promise<Client> {
  const server = await build(t)
  await server.post(PODS, {
    metadata: { name: 'p', ...metadata }, spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], ...spec }
  })
  return server
}

/** Whole seconds from now. */
const fromNow = ({ metadata }: Json): number => Math.round((Date.parse(metadata.deletionTimestamp) - Date.now()) / 1000)

t.test('a pod on a node is marked, and stays until its node agent removes it', async t => {
  const server = await withPod(t)
  const { code, json } = await server.delete(`${PODS}/p`)
  t.equal(code, 202)
  t.equal(json.metadata.deletionGracePeriodSeconds, 30)
  t.ok(Math.abs(fromNow(json) - 30) <= 2, json.metadata.deletionTimestamp)
  await server.patch(`${PODS}/p`, { metadata: { labels: { a: 'b' } } })
  t.equal((await server.get(`${PODS}/p`)).code, 200, 'a change of it does not end it')
  t.equal((await server.delete(`${PODS}/p?gracePeriodSeconds=0`)).code, 200)
  t.equal((await server.get(`${PODS}/p`)).code, 404)
})

t.test(
  'the grace period of the request takes precedence over that of the pod, in the body and in the query', async t => {
    const server = await withPod(t, { terminationGracePeriodSeconds: 5 })
    t.equal((await server.delete(`${PODS}/p?gracePeriodSeconds=100`)).json.metadata.deletionGracePeriodSeconds, 100)
    t.equal((await server.delete(`${PODS}/p`, { gracePeriodSeconds: 50 })).json.metadata.deletionGracePeriodSeconds, 50)
  }
)

t.test('a grace period in progress can be shortened, not extended', async t => {
  const server = await withPod(t)
  const first = (await server.delete(`${PODS}/p`)).json
  t.same((await server.delete(`${PODS}/p`)).json, first)
  t.same((await server.delete(`${PODS}/p?gracePeriodSeconds=40`)).json, first)
  const shorter = (await server.delete(`${PODS}/p?gracePeriodSeconds=10`)).json
  t.equal(shorter.metadata.deletionGracePeriodSeconds, 10)
  t.equal(Date.parse(first.metadata.deletionTimestamp) - Date.parse(shorter.metadata.deletionTimestamp), 20_000)
})

t.test('unscheduled and finished pods are deleted at once', async t => {
  const server = await withPod(t, { nodeName: undefined })
  t.equal((await server.delete(`${PODS}/p`)).code, 200)
  for (const phase of ['Succeeded', 'Failed']) {
    const ended = await withPod(t)
    await ended.patch(`${PODS}/p/status`, { status: { phase } })
    t.equal((await ended.delete(`${PODS}/p`)).code, 200, phase)
    t.equal((await ended.get(`${PODS}/p`)).code, 404, phase)
  }
})

t.test('finalizers keep a pod beyond its grace period', async t => {
  const server = await withPod(t, {}, { finalizers: ['example.com/one'] })
  await server.delete(`${PODS}/p`)
  t.equal((await server.delete(`${PODS}/p?gracePeriodSeconds=0`)).code, 202)
  t.equal((await server.patch(`${PODS}/p`, { metadata: { finalizers: null } })).code, 200)
  t.equal((await server.get(`${PODS}/p`)).code, 404)
})

t.test('removing finalizers within the grace period does not remove the pod, and the period is immutable', async t => {
  const server = await withPod(t, {}, { finalizers: ['example.com/one'] })
  await server.delete(`${PODS}/p`)
  await server.patch(`${PODS}/p`, { metadata: { finalizers: null } })
  const { code, json } = await server.get(`${PODS}/p`)
  t.equal(code, 200)
  t.equal(
    (await server.put(`${PODS}/p`, { ...json, metadata: { ...json.metadata, deletionGracePeriodSeconds: 0 } })).code,
    422
  )
})

t.test('a dry run of a deletion returns the mark without storing it; a collection is deleted with grace', async t => {
  const server = await withPod(t)
  t.equal((await server.delete(`${PODS}/p?dryRun=All`)).json.metadata.deletionGracePeriodSeconds, 30)
  t.equal((await server.get(`${PODS}/p`)).json.metadata.deletionTimestamp, undefined)
  await server.delete(PODS)
  t.equal((await server.get(`${PODS}/p`)).json.metadata.deletionGracePeriodSeconds, 30)
  await server.delete(`${PODS}?gracePeriodSeconds=0`)
  t.same((await server.get(PODS)).json.items, [])
})

t.test('a pod that is deleted at once is marked first, in watches and in the response', async t => {
  const server = await listen(t)
  const pod = (name: string, spec: Json = {}) => ({
    metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec }
  })
  const { json: list } = await server.get(PODS)
  for (const name of ['a', 'b', 'c']) await server.post(PODS, pod(name, name === 'a' ? {} : { nodeName: 'n1' }))
  await server.delete(`${PODS}/c?gracePeriodSeconds=10`)
  for (const [name, query] of [['a', ''], ['b', '?gracePeriodSeconds=0'], ['c', '?gracePeriodSeconds=0']] as const) {
    for (const dryRun of ['', `${query === '' ? '?' : '&'}dryRun=All`].reverse()) {
      const { code, json } = await server.delete(`${PODS}/${name}${query}${dryRun}`)
      t.equal(code, 200, name)
      t.type(json.metadata.deletionTimestamp, 'string', name)
      t.equal(json.metadata.deletionGracePeriodSeconds, 0, name)
    }
  }
  const watch = await Watch.open(t, `${server.url}${PODS}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
  const seen = (await watch.take(10)).slice(4)
  t.same(types(seen), ['MODIFIED a', 'DELETED a', 'MODIFIED b', 'DELETED b', 'MODIFIED c', 'DELETED c'])
  for (const { object } of seen) t.equal(object.metadata.deletionGracePeriodSeconds, 0)
})

t.test('the propagation policy can change as long as the grace period is shortened', async t => {
  const server = await withPod(t)
  await server.delete(`${PODS}/p`)
  t.equal((await server.delete(`${PODS}/p?propagationPolicy=Foreground`)).json.metadata.finalizers, undefined)
  t.same(
    (await server.delete(`${PODS}/p?propagationPolicy=Foreground&gracePeriodSeconds=5`)).json.metadata.finalizers,
    ['foregroundDeletion']
  )
  t.equal((await server.delete(`${PODS}/p?gracePeriodSeconds=0`)).code, 202)
})
