/** Interface, 'Limits': those that are built, by the option each flag becomes. */
import t from 'tap'
import { request } from 'node:http'
import { BINDINGS, Watch, binding, build, listen } from '../build.js'
import type { Answer } from '../build.js'
import type { Authenticator, Authorizer } from '../../app.js'

/** Holds the requests about an object called held until it is told to let them go. */
function gate (): { authorizer: Authorizer, open: () => void, waiting: () => number } {
  let release: Array<() => void> = []
  return {
    authorizer: { name: 'gate', authorize: ({ info }) => info.name !== 'held' ? { decision: 'Allow' } : new Promise(resolve => { release.push(() => { resolve({ decision: 'Allow' }) }) }) },
    open: () => {
      for (const one of release) one()
      release = []
    },
    waiting: () => release.length
  }
}

const turn = (): Promise<void> => new Promise(resolve => { setImmediate(resolve) })

t.test('--max-requests-inflight and --max-mutating-requests-inflight bound each kind by itself', async t => {
  const { authorizer, open, waiting } = gate()
  const server = await build(t, { maxRequestsInflight: 3, maxMutatingRequestsInflight: 2, authorizers: [authorizer] })
  const busy: Array<Promise<Answer>> = []
  for (let index = 0; index < 3; index++) busy.push(server.get(`${BINDINGS}/held`))
  for (let index = 0; index < 2; index++) busy.push(server.delete(`${BINDINGS}/held`))
  while (waiting() < 5) await turn()
  for (const answer of [await server.get(BINDINGS), await server.post(BINDINGS, binding('a'))]) {
    t.match(answer, { code: 429, json: { kind: 'Status', reason: 'TooManyRequests', code: 429 }, headers: { 'retry-after': /^\d+$/ } })
  }
  t.equal((await server.get('/livez')).code, 200, 'health is always told')
  open()
  await Promise.all(busy)
  t.equal((await server.get(BINDINGS)).code, 200)
  t.equal((await server.post(BINDINGS, binding('a'))).code, 201)
})

t.test('0 is no limit', async t => {
  const { authorizer, open, waiting } = gate()
  const server = await build(t, { maxRequestsInflight: 0, maxMutatingRequestsInflight: 0, authorizers: [authorizer] })
  const busy = Array.from({ length: 1000 }, (_, index) => index % 2 === 0 ? server.get(`${BINDINGS}/held`) : server.delete(`${BINDINGS}/held`))
  while (waiting() < 1000) await turn()
  t.equal((await server.post(BINDINGS, binding('a'))).code, 201)
  open()
  t.ok((await Promise.all(busy)).every(({ code }) => code === 404))
})

t.test('watches are counted by neither', async t => {
  const server = await listen(t, { maxRequestsInflight: 2 })
  const watches = await Promise.all(Array.from({ length: 20 }, () => Watch.open(t, `${server.url}${BINDINGS}?watch=1`)))
  t.ok(watches.every(({ code }) => code === 200))
  t.equal((await server.get(BINDINGS)).code, 200)
})

t.test('--request-timeout ends what is no watch with a 504, and watches outlive it', async t => {
  const { authorizer } = gate()
  const server = await listen(t, { requestTimeout: 100, authorizers: [authorizer] })
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1`)
  t.match(await server.get(`${BINDINGS}/held`), { code: 504, json: { kind: 'Status', reason: 'Timeout', code: 504 } })
  await server.post(BINDINGS, binding('a'))
  t.equal((await watch.take(1))[0]?.object.metadata.name, 'a')
})

t.test('--min-request-timeout: a watch lasts a random time from one to two of it', async t => {
  const server = await listen(t, { minRequestTimeoutSeconds: 1 })
  const seconds = await Promise.all(Array.from({ length: 12 }, async () => {
    const since = performance.now()
    const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1`)
    await watch.end()
    return (performance.now() - since) / 1000
  }))
  t.ok(seconds.every(one => one >= 0.99 && one < 3), seconds.map(one => one.toFixed(2)).join())
  t.ok(Math.max(...seconds) - Math.min(...seconds) > 0.05, 'not all at one time')
})

t.test('--delete-collection-workers: many do the same as one', async t => {
  for (const deleteCollectionWorkers of [1, 8]) {
    const server = await build(t, { deleteCollectionWorkers })
    for (let index = 0; index < 40; index++) await server.post(BINDINGS, binding(`n-${index}`))
    t.equal((await server.call('DELETE', BINDINGS)).code, 200)
    t.equal((await server.get(BINDINGS)).json.items.length, 0)
  }
})

t.test('the history of changes is kept for a while and then no longer', async t => {
  const server = await build(t, { compactionInterval: 20 })
  await server.post(BINDINGS, binding('a'))
  const { resourceVersion } = (await server.get(BINDINGS)).json.metadata
  const exact = (): Promise<Answer> => server.get(`${BINDINGS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)
  t.equal((await exact()).code, 200)
  for (const deadline = Date.now() + 10_000; (await exact()).code !== 410;) {
    if (Date.now() > deadline) throw new Error('it is still kept')
    await server.patch(`${BINDINGS}/a`, { metadata: { labels: { now: String(performance.now()) } } })
    await new Promise(resolve => { setTimeout(resolve, 5) })
  }
  t.equal((await server.get(BINDINGS)).code, 200)
})

t.test('a request whose client has gone before its turn takes no place of the others', async t => {
  const releases: Array<() => void> = []
  const slow: Authenticator = {
    name: 'slow',
    authenticate: ({ headers }) => headers['x-slow'] === undefined ? undefined : new Promise(resolve => { releases.push(() => { resolve(undefined) }) })
  }
  const server = await listen(t, { maxRequestsInflight: 1, authenticators: [slow] })
  const left = request(`${server.url}${BINDINGS}`, { headers: { 'x-slow': '1' } })
  left.on('error', () => {})
  left.end()
  while (releases.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
  left.destroy()
  await new Promise(resolve => setTimeout(resolve, 50))
  releases[0]?.()
  await turn()
  t.equal((await server.get(BINDINGS)).code, 200)
  t.match((await server.get('/metrics')).body, /apiserver_current_inflight_requests\{request_kind="readOnly"\} 1\n/, 'this one alone')
})
