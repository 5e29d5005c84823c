import t from 'tap'
import { connect, type Socket } from 'node:net'
import Fastify from '../fastify.js'
import { server as orch } from '../../app.js'
import type { WatchCache } from '../../storage/cache/watch-cache.js'
import { BINDINGS, binding, listen, PROTOBUF, TABLE, types, Watch } from '../build.js'
import { loadedServer } from '../../plugins/shared/plugin.js'

t.test('a watch without a version starts with the state, then sends changes in order', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('a'))
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1`)
  t.equal(watch.code, 200)
  t.equal(watch.response.headers['content-type'], 'application/json')
  await server.post(BINDINGS, binding('b'))
  await server.patch(`${BINDINGS}/a`, { metadata: { labels: { x: 'y' } } })
  await server.delete(`${BINDINGS}/b`)
  const events = await watch.take(4)
  t.same(types(events), ['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b'])
  const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
  t.same(versions, [...versions].sort((one, other) => one - other), 'a delete carries its own version')
  t.equal(events[2]?.object.kind, 'ClusterRoleBinding')
})

t.test('a watch from a version sends later changes, without the state', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('a'))
  const { resourceVersion } = (await server.get(BINDINGS)).json.metadata
  await server.post(BINDINGS, binding('b'))
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=true&resourceVersion=${resourceVersion}`)
  await server.post(BINDINGS, binding('c'))
  t.same(types(await watch.take(2)), ['ADDED b', 'ADDED c'])
  const any = await Watch.open(t, `${server.url}${BINDINGS}?watch=1&resourceVersion=0`)
  t.same(types(await any.take(3)), ['ADDED a', 'ADDED b', 'ADDED c'])
})

t.test('a watch from a future version gets only later events', async t => {
  const server = await listen(t)
  // Objects that the server writes at its start would count as versions too.
  const count = async (plural: string): Promise<number> => (await server.get(`/api/v1/${plural}`)).json.items.length
  while (await count('serviceaccounts') < await count('namespaces')) {
    await new Promise(resolve => { setImmediate(resolve) })
  }
  const made = await server.post(BINDINGS, binding('a'))
  const future = Number(made.json.metadata.resourceVersion) + 2
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1&resourceVersion=${future}`)
  for (const name of ['b', 'c', 'd']) await server.post(BINDINGS, binding(name))
  t.same(types(await watch.take(1)), ['ADDED d'])
})

t.test('an object that starts or stops matching is added or deleted', async t => {
  const server = await listen(t)
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1&labelSelector=team%3Dred`)
  await server.post(BINDINGS, binding('a'))
  await server.patch(`${BINDINGS}/a`, { metadata: { labels: { team: 'red' } } })
  await server.patch(`${BINDINGS}/a`, { metadata: { labels: { more: 'x' } } })
  const left = await server.patch(`${BINDINGS}/a`, { metadata: { labels: { team: 'blue' } } })
  await server.patch(`${BINDINGS}/a`, { metadata: { labels: { team: 'red' } } })
  await server.delete(`${BINDINGS}/a`)
  const events = await watch.take(5)
  t.same(types(events), ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a'])
  t.equal(events[2]?.object.metadata.labels.team, 'red', 'the last state that matched')
  t.equal(
    events[2]?.object.metadata.resourceVersion, left.json.metadata.resourceVersion, 'with the version it ceased at'
  )
})

for (const [form, accept] of [
  ['Table', TABLE], ['metadata', 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1']
] as const) {
  t.test(`an object that stops matching is deleted at the version of that change, as ${form} too`, async t => {
    const server = await listen(t)
    const { resourceVersion } = (await server.post(
      BINDINGS, binding('a', { metadata: { labels: { team: 'red' } } })
    )).json.metadata
    const watch = await Watch.open(
      t, `${server.url}${BINDINGS}?watch=1&labelSelector=team%3Dred&resourceVersion=${resourceVersion}`, { accept }
    )
    const left = await server.patch(`${BINDINGS}/a`, { metadata: { labels: { team: 'blue' } } })
    const [event] = await watch.take(1)
    const { metadata } = form === 'Table' ? event?.object.rows[0].object : event?.object
    t.equal(event?.type, 'DELETED')
    t.match(metadata, { resourceVersion: left.json.metadata.resourceVersion, labels: { team: 'red' } })
  })
}

t.test('a watch can be limited to a namespace and a name', async t => {
  const server = await listen(t)
  const one = await Watch.open(
    t, `${server.url}/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name%3Dx`
  )
  await server.post('/api/v1/namespaces/orch-system/configmaps', { metadata: { name: 'x' } })
  await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'y' } })
  await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'x' }, data: { it: 'is' } })
  t.match(await one.take(1), [{ type: 'ADDED', object: { metadata: { name: 'x', namespace: 'default' } } }])
})

t.test('timeoutSeconds ends a watch cleanly, with a last bookmark if requested', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('a'))
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true`)
  await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'other' } })
  await watch.end()
  t.ok(watch.response.complete)
  const [added, bookmark] = watch.events
  t.match(added, { type: 'ADDED' })
  t.match(bookmark, {
    type: 'BOOKMARK', object: { kind: 'ClusterRoleBinding', metadata: { resourceVersion: /^\d+$/ } }
  })
  t.same(Object.keys(bookmark?.object.metadata), ['resourceVersion'])
  const { resourceVersion } = (await server.get(BINDINGS)).json.metadata
  t.equal(bookmark?.object.metadata.resourceVersion, resourceVersion, 'the bookmark is as new as the store')
})

t.test('a boolean parameter is true unless its value is 0 or false', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('a'))
  const opened = await Promise.all(['maybe', '', '00'].map(value =>
    Watch.open(t, `${server.url}${BINDINGS}?watch=${value}&timeoutSeconds=1&allowWatchBookmarks=${value}`)))
  for (const watch of opened) {
    await watch.end()
    t.match(watch.events, [{ type: 'ADDED' }, { type: 'BOOKMARK' }])
  }
  const without = await Watch.open(t, `${server.url}${BINDINGS}?watch&timeoutSeconds=1&allowWatchBookmarks=False`)
  await without.end()
  t.match(without.events, [{ type: 'ADDED' }])
  t.equal(without.events.length, 1)
})

t.test('a version no longer kept is 410', async t => {
  const server = await listen(t, { storage: { compactionInterval: 30 } })
  const { json } = await server.post(BINDINGS, binding('a'))
  for (;;) {
    await server.patch(`${BINDINGS}/a`, { metadata: { labels: { at: String(Math.random()).slice(2) } } })
    const watch = await Watch.open(
      t, `${server.url}${BINDINGS}?watch=1&resourceVersion=${json.metadata.resourceVersion}`
    )
    watch.close()
    if (watch.code === 410) break
    await new Promise(resolve => { setTimeout(resolve, 20) })
  }
  t.match(await server.get(`${BINDINGS}?watch=1&resourceVersion=1`), {
    code: 410, json: { kind: 'Status', reason: 'Expired', code: 410, message: /^too old resource version: 1 \(\d+\)$/ }
  })
})

t.test('a failure to encode an event ends that watch with an ERROR other than 410, and is logged', async t => {
  const lines: string[] = []
  const app = Fastify({
    logger: { level: 'error', stream: { write: (line: string) => { lines.push(line) } } }, forceCloseConnections: true
  })
  t.teardown(() => app.close())
  let cache: WatchCache | undefined
  await app.register(async scope => {
    await orch(scope, {})
    cache = loadedServer(scope).orchResources.find('rbac.authorization.orch.io', 'clusterrolebindings')?.cache
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const watch = await Watch.open(t, `${url}${BINDINGS}?watch=1`)
  if (cache === undefined) throw new Error('there are no bindings')
  t.intercept(cache.window, 'at', { value: () => { throw new TypeError('not thought of') } })
  await app.inject({ method: 'POST', url: BINDINGS, payload: binding('a') })
  await watch.end()
  t.match(watch.events, [{ type: 'ERROR', object: { kind: 'Status', reason: 'InternalError', code: 500 } }])
  t.notMatch(JSON.stringify(watch.events), /not thought of/)
  t.match(lines.join(''), /a watch failed/)
  t.match(lines.join(''), /not thought of/)

  const marked = await Watch.open(
    t, `${url}${BINDINGS}?watch=1&allowWatchBookmarks=true&resourceVersion=${cache.revision}`
  )
  t.intercept(cache.window, 'at', { value: () => ({ entry: { json: '' } }) })
  await app.inject({ method: 'POST', url: BINDINGS, payload: binding('b') })
  await marked.end()
  t.same(marked.events.map(({ type }) => type), ['ERROR'], 'and no bookmark vouches for that event')
})

t.test('a watch of the pods of a node hears when they come to it, change and go', async t => {
  const server = await listen(t)
  const PODS = '/api/v1/namespaces/default/pods'
  const watches = await Promise.all(['n1', 'n2'].map(async node =>
    await Watch.open(t, `${server.url}/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3D${node}`)))
  const all = await Watch.open(t, `${server.url}/api/v1/pods?watch=1`)
  for (const [name, node] of [['a', 'n1'], ['b', 'n2'], ['c', 'n1']] as const) {
    await server.post(PODS, { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })
    t.equal(
      (await server.post(`${PODS}/${name}/binding`, { metadata: { name }, target: { kind: 'Node', name: node } })).code,
      201
    )
    await server.patch(`${PODS}/${name}/status`, { status: { phase: 'Running' } })
    await server.delete(`${PODS}/${name}`, { gracePeriodSeconds: 0 })
  }
  const last = (await all.take(15)).length
  t.ok(last >= 12)
  const told = async (watch: Watch | undefined, count: number): Promise<string[]> =>
    (await watch?.take(count) ?? []).map(({ type, object }) => `${type} ${String(object['metadata'].name)}`)
  t.same(
    [...new Set(await told(watches[0], 8))],
    ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED c', 'MODIFIED c', 'DELETED c']
  )
  t.same([...new Set(await told(watches[1], 4))], ['ADDED b', 'MODIFIED b', 'DELETED b'])
})

t.test('invalid parameters are refused before the stream begins', async t => {
  const server = await listen(t)
  for (const [query, code] of [
    ['watch=1&resourceVersion=x', 400],
    ['watch=1&timeoutSeconds=x', 400],
    ['watch=1&labelSelector=%3D', 400],
    ['watch=1&sendInitialEvents=true', 422],
    ['watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1', 422]
  ] as const) {
    t.match(await server.get(`${BINDINGS}?${query}`), { code, json: { kind: 'Status' } }, query)
  }
  for (const query of ['watch=0', 'watch=false']) {
    t.equal((await server.get(`${BINDINGS}?${query}`)).json.kind, 'ClusterRoleBindingList', query)
  }
})

t.test('each of many watchers sees every event once, in order', async t => {
  const server = await listen(t)
  const { resourceVersion } = (await server.get(BINDINGS)).json.metadata
  const watches = await Promise.all(Array.from(
    { length: 50 }, () => Watch.open(t, `${server.url}${BINDINGS}?watch=1&resourceVersion=${resourceVersion}`)
  ))
  for (let batch = 0; batch < 3; batch++) {
    await Promise.all(Array.from({ length: 100 }, (_, at) => server.post(BINDINGS, binding(`n${batch}-${at}`))))
  }
  for (const watch of watches) {
    const events = await watch.take(300)
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
    t.equal(new Set(versions).size, 300)
    t.same(versions, [...versions].sort((one, other) => one - other))
  }
})

t.test('a watch can be requested as Table and as protobuf', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('a'))
  const table = await Watch.open(t, `${server.url}${BINDINGS}?watch=1`, { accept: TABLE })
  await server.post(BINDINGS, binding('b'))
  const [first, second] = await table.take(2)
  t.match(first?.object, {
    kind: 'Table', columnDefinitions: [{ name: 'Name' }], rows: [{ cells: ['a', 'ClusterRole/view'] }]
  })
  t.match(second?.object, { kind: 'Table', columnDefinitions: null, rows: [{ cells: ['b'] }] })

  const response = await fetch(`${server.url}${BINDINGS}?watch=1&timeoutSeconds=1`, { headers: { accept: PROTOBUF } })
  t.equal(response.headers.get('content-type'), 'application/vnd.orch.protobuf;stream=watch')
  const bytes = Buffer.from(await response.arrayBuffer())
  let at = 0
  let frames = 0
  while (at < bytes.length) {
    at += 4 + bytes.readUInt32BE(at)
    frames++
  }
  t.equal(frames, 2)
  t.equal(at, bytes.length, 'frames fill the stream')
})

t.test('a client that never reads costs only its connection, and does not slow others', async t => {
  const server = await listen(t)
  const sockets: Socket[] = []
  server.app.server.on('connection', socket => { sockets.push(socket) })
  const text = 'x'.repeat(200_000)
  const { json } = await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'big' } })
  const url = `/api/v1/configmaps?watch=1&resourceVersion=${json.metadata.resourceVersion}`
  const deaf = connect(server.port, '127.0.0.1')
  t.teardown(() => { deaf.destroy() })
  deaf.on('error', () => {})
  deaf.pause()
  deaf.write(`GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`)
  const reader = await Watch.open(t, server.url + url)
  for (let at = 0; at < 500; at++) {
    await server.put('/api/v1/namespaces/default/configmaps/big', {
      metadata: { name: 'big' }, data: { text, at: String(at) }
    })
  }
  await reader.take(500)
  const waiting = sockets.reduce((sum, socket) => sum + socket.writableLength, 0)
  t.ok(waiting < 4 * 1024 * 1024, `${waiting} bytes wait`)
})
