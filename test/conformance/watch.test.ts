/** Interface, 'Watch' and 'Watch events', and what the resource version tables say of a watch. */
import t from 'tap'
import { TABLE, BINDINGS, Watch, types, listen, PROTOBUF, binding, type Json, type Listening } from '../build.js'
import { until } from '../controllers/custom/definitions.js'
import { ownTime } from '../own-time.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const open = (
  t: Parameters<typeof listen>[0], server: Listening, query: string, headers?: Record<string, string>, url = BINDINGS
): Promise<Watch> => Watch.open(t, `${server.url}${url}?${query}`, headers)
const version = async (server: Listening): Promise<string> => (await server.get(BINDINGS)).json.metadata.resourceVersion

t.test('the response is chunked JSON documents, each with type and object and nothing else', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('a'))
  const watch = await open(t, server, 'watch=1')
  t.equal(watch.code, 200)
  t.equal(watch.response.headers['transfer-encoding'], 'chunked')
  t.match(watch.response.headers['content-type'], /^application\/json/)
  t.equal(watch.response.headers['content-length'], undefined)
  const [event] = await watch.take(1)
  t.same(Object.keys(event ?? {}).sort(), ['object', 'type'])
  t.same(event?.object, (await server.get(`${BINDINGS}/a`)).json, 'the object is the whole object')
})

t.test('changes come as ADDED, MODIFIED and DELETED, each once, in order, whatever made them', async t => {
  const server = await listen(t)
  const watch = await open(t, server, 'watch=1')
  await server.post(BINDINGS, binding('posted'))
  await server.put(`${BINDINGS}/put`, binding('put'))
  await server.put(`${BINDINGS}/put`, binding('put', { metadata: { labels: { a: '1' } } }))
  await server.patch(`${BINDINGS}/posted`, { metadata: { labels: { a: '1' } } })
  await server.patch(`${BINDINGS}/posted`, [{ op: 'remove', path: '/subjects' }], 'application/json-patch+json')
  await server.patch(`${BINDINGS}/posted`, { metadata: { labels: { a: '1' } } })
  await server.post(`${BINDINGS}?dryRun=All`, binding('dry'))
  await server.post(BINDINGS, { ...binding('bad'), roleRef: {} })
  await server.delete(`${BINDINGS}/posted`)
  await server.call('DELETE', BINDINGS)
  await server.post(BINDINGS, binding('last'))
  await watch.until(() => watch.events.some(({ object }) => object.metadata.name === 'last'))
  t.same(
    types(watch.events),
    [
      'ADDED posted', 'ADDED put', 'MODIFIED put', 'MODIFIED posted', 'MODIFIED posted', 'DELETED posted',
      'DELETED put', 'ADDED last'
    ],
    'no change, a dry run and a refusal are no events'
  )
  const versions = watch.events.map(({ object }) => Number(object.metadata.resourceVersion))
  t.same(versions, [...versions].sort((one, other) => one - other))
  t.equal(new Set(versions).size, versions.length)
  t.equal(watch.events.at(-2)?.object.metadata.labels.a, '1', 'a deletion has the last state of the object')
})

t.test('version unset: the newest state as ADDED, then changes', async t => {
  const server = await listen(t)
  for (const name of ['a', 'b']) await server.post(BINDINGS, binding(name))
  const watch = await open(t, server, 'watch=1')
  await watch.take(2)
  await server.post(BINDINGS, binding('c'))
  t.same(types(await watch.take(3)), ['ADDED a', 'ADDED b', 'ADDED c'])
})

t.test('version 0: some state as ADDED, then changes', async t => {
  const server = await listen(t)
  for (const name of ['a', 'b']) await server.post(BINDINGS, binding(name))
  const watch = await open(t, server, 'watch=1&resourceVersion=0')
  await watch.take(2)
  await server.delete(`${BINDINGS}/a`)
  t.same(types(await watch.take(3)), ['ADDED a', 'ADDED b', 'DELETED a'])
})

t.test('another version: what came after it, without its state', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('a'))
  const from = await version(server)
  await server.patch(`${BINDINGS}/a`, { metadata: { labels: { x: '1' } } })
  await server.post(BINDINGS, binding('b'))
  await server.delete(`${BINDINGS}/a`)
  const watch = await open(t, server, `watch=1&resourceVersion=${from}`)
  t.same(types(await watch.take(3)), ['MODIFIED a', 'ADDED b', 'DELETED a'])
  await server.post(BINDINGS, binding('c'))
  t.same(types(await watch.take(4)).at(-1), 'ADDED c')
})

t.test('a dropped watch restarts from the last version it received, without a gap or a repeat', async t => {
  const server = await listen(t)
  let at = await version(server)
  const seen: string[] = []
  for (let round = 0; round < 10; round++) {
    const watch = await open(t, server, `watch=1&resourceVersion=${at}`)
    for (let index = 0; index < 3; index++) await server.post(BINDINGS, binding(`n-${round}-${index}`))
    // Disconnects after the first or second event.
    const taken = await watch.take(1 + round % 2)
    watch.close()
    seen.push(...types(taken))
    at = taken.at(-1)?.object.metadata.resourceVersion
  }
  const rest = await open(t, server, `watch=1&resourceVersion=${at}`)
  const all = Array.from(
    { length: 10 }, (_, round) => Array.from({ length: 3 }, (_, index) => `ADDED n-${round}-${index}`)
  ).flat()
  seen.push(...types(await rest.take(all.length - seen.length)))
  t.same(seen, all)
})

t.test('a list and a watch from its version are the whole story', async t => {
  const server = await listen(t)
  for (const name of ['a', 'b', 'c']) await server.post(BINDINGS, binding(name))
  const { items, metadata } = (await server.get(BINDINGS)).json
  await server.delete(`${BINDINGS}/b`)
  await server.post(BINDINGS, binding('d'))
  const view = new Set(items.map(({ metadata }: Json) => metadata.name))
  for (const { type, object } of await (await open(
    t, server, `watch=1&resourceVersion=${metadata.resourceVersion}`
  )).take(2)) {
    if (type === 'DELETED') view.delete(object.metadata.name)
    else view.add(object.metadata.name)
  }
  t.same([...view].sort(), ['a', 'c', 'd'])
})

t.test('bookmarks are sent on request only, with the kind and a resourceVersion alone', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('a'))
  const plain = await open(t, server, 'watch=1&timeoutSeconds=1')
  const marked = await open(t, server, 'watch=1&timeoutSeconds=1&allowWatchBookmarks=true')
  await Promise.all([plain.end(), marked.end()])
  t.same(types(plain.events), ['ADDED a'])
  const bookmark = marked.events.at(-1)
  t.equal(bookmark?.type, 'BOOKMARK')
  t.same(Object.keys(bookmark?.object ?? {}).sort(), ['apiVersion', 'kind', 'metadata'])
  t.match(bookmark?.object, { kind: 'ClusterRoleBinding', apiVersion: 'rbac.authorization.orch.io/v1' })
  t.same(
    Object.entries(bookmark?.object.metadata).filter(([, value]) => value !== null).map(([name]) => name),
    ['resourceVersion']
  )
  const from = bookmark?.object.metadata.resourceVersion as string
  t.ok(
    Number(from) >= Number((await server.get(`${BINDINGS}/a`)).json.metadata.resourceVersion),
    'all changes up to it were sent'
  )
  await server.post(BINDINGS, binding('b'))
  t.same(
    types(await (await open(t, server, `watch=1&resourceVersion=${from}`)).take(1)), ['ADDED b'],
    'and it is a place to start from'
  )
})

t.test('a version no longer kept is 410, and so is one whose history ends under the watch', async t => {
  const server = await listen(t, { storage: { compactionInterval: 20 } })
  await server.post(BINDINGS, binding('a'))
  const old = await version(server)
  for (const deadline = Date.now() + 60_000; ;) {
    await server.patch(`${BINDINGS}/a`, { metadata: { labels: { now: String(performance.now()) } } })
    const { code } = await server.get(`${BINDINGS}?resourceVersion=${old}&resourceVersionMatch=Exact`)
    if (code === 410) break
    if (Date.now() > deadline) throw new Error('the version is still kept')
    await new Promise(resolve => { setTimeout(resolve, 5) })
  }
  const watch = await open(t, server, `watch=1&resourceVersion=${old}`)
  await watch.end()
  // If it is known before the first byte, it is the status code, otherwise the last event.
  if (watch.code === 200) {
    t.match(watch.events.at(-1), {
      type: 'ERROR', object: { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired' }
    })
  } else t.equal(watch.code, 410)
  const fresh = await open(t, server, `watch=1&resourceVersion=${await version(server)}`)
  await server.post(BINDINGS, binding('b'))
  await fresh.until(() => fresh.events.some(({ object }) => object.metadata.name === 'b'))
  t.pass('after a new list the watch continues')
})

t.test('a watch from a future version waits for it and gets only later events', async t => {
  const server = await listen(t)
  // The server itself may still write to other collections.
  await until(async () =>
    (await server.get('/apis/apiregistration.orch.io/v1/apiservices')).json['items'].length === 29)
  const now = Number(await version(server))
  const start = now + 15
  const watch = await open(t, server, `watch=1&resourceVersion=${start}`)
  const made: Json[] = []
  for (let index = 0; index < 30; index++) made.push((await server.post(BINDINGS, binding(`n-${index}`))).json)
  const after = made.filter(({ metadata }) => Number(metadata.resourceVersion) > start).map(({ metadata }) =>
    `ADDED ${metadata.name}`)
  t.ok(after.length > 0 && after.length < made.length)
  t.same(types(await watch.take(after.length)), after)
})

t.test('selectors show a collection as its own', async t => {
  const server = await listen(t)
  const watch = await open(t, server, 'watch=1&labelSelector=team%3Dred')
  const label = (name: string, team: string | null): Promise<unknown> =>
    server.patch(`${BINDINGS}/${name}`, { metadata: { labels: { team } } })
  await server.post(BINDINGS, binding('a'))
  await server.post(BINDINGS, binding('b', { metadata: { labels: { team: 'red' } } }))
  await label('a', 'red')
  await server.patch(`${BINDINGS}/a`, { subjects: [] })
  await label('a', 'blue')
  await label('a', null)
  await server.delete(`${BINDINGS}/a`)
  await server.delete(`${BINDINGS}/b`)
  t.same(types(await watch.take(5)), ['ADDED b', 'ADDED a', 'MODIFIED a', 'DELETED a', 'DELETED b'])
  const left = watch.events[3]?.object
  t.equal(left?.metadata.labels?.team, 'red', 'an object that stops matching is sent in its last matching state')
  t.ok(
    Number(left?.metadata.resourceVersion) > Number(watch.events[2]?.object.metadata.resourceVersion),
    'with the version at which it left'
  )
})

t.test('a watch is of a namespace, or of all', async t => {
  const server = await listen(t)
  await server.post('/api/v1/namespaces', { metadata: { name: 'other' } })
  const [one, all] = [
    await open(t, server, 'watch=1', {}, CONFIGS), await open(t, server, 'watch=1', {}, '/api/v1/configmaps')
  ]
  await server.post('/api/v1/namespaces/other/configmaps', { metadata: { name: 'there' } })
  await server.post(CONFIGS, { metadata: { name: 'here' } })
  t.same(types(await one.take(1)), ['ADDED here'])
  t.same(types(await all.take(2)), ['ADDED there', 'ADDED here'])
})

t.test('timeoutSeconds ends it cleanly; without, it lasts at least --min-request-timeout', async t => {
  const server = await listen(t, { limits: { minRequestTimeoutSeconds: 1 } })
  const [since, own] = [performance.now(), ownTime()]
  const watch = await open(t, server, 'watch=1')
  await watch.end()
  const seconds = (performance.now() - since) / 1000
  t.ok(watch.response.complete, 'the stream ended, it was not cut')
  t.ok(seconds >= 1 && ownTime() - own < 10_000, `${seconds.toFixed(1)} s, between one and two of it`)
})

t.test('events are encoded in the requested media type', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('a'))
  const table = await open(t, server, 'watch=1', { accept: TABLE })
  t.match(await table.take(1), [{ type: 'ADDED', object: { kind: 'Table', rows: [{ cells: ['a'] }] } }])
  const metadata = await open(t, server, 'watch=1', {
    accept: 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1'
  })
  t.match(await metadata.take(1), [
    { type: 'ADDED', object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } }
  ])
  const response = await fetch(`${server.url}${BINDINGS}?watch=1&timeoutSeconds=1`, { headers: { accept: PROTOBUF } })
  t.match(response.headers.get('content-type'), /^application\/vnd\.orch\.protobuf;\s*stream=watch$/)
  const bytes = Buffer.from(await response.arrayBuffer())
  t.equal(bytes.readUInt32BE(0), bytes.length - 4, 'a frame: its length, then the event')
})

t.test('one change reaches each of many watchers once', async t => {
  const server = await listen(t)
  const from = await version(server)
  const watches = await Promise.all(Array.from(
    { length: 50 }, (_, index) => open(t, server, index % 2 === 0 ? `watch=1&resourceVersion=${from}` : 'watch=1')
  ))
  for (let index = 0; index < 40; index++) await server.post(BINDINGS, binding(`n-${String(index).padStart(2, '0')}`))
  const wanted = Array.from({ length: 40 }, (_, index) => `ADDED n-${String(index).padStart(2, '0')}`)
  for (const watch of watches) {
    const events = types(await watch.take(40))
    if (events.join() !== wanted.join()) t.fail(events.join())
  }
  t.equal(watches.length, 50)
})
