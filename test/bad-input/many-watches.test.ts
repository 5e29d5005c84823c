/**
 * Hundreds of watches over the server's own listener, in both protocols: some never read, all start and end at once.
 */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { CONFIGS, serve, session, stream, tls, until } from '../secure-server.js'
import { heapUsed } from './refusal.js'

const MB = 1024 * 1024

/** A relay to the server that returns nothing once it is stopped. */
async function relay (t: Test, port: number): Promise<{ port: number, stop: () => void }> {
  const ways: Socket[] = []
  const between = createServer(from => {
    const to = connect(port, '127.0.0.1')
    for (const socket of [from, to]) socket.on('error', () => {}).on('close', () => { from.destroy(); to.destroy() })
    from.pipe(to).pipe(from)
    ways.push(to)
  }).listen(0, '127.0.0.1')
  await once(between, 'listening')
  t.teardown(() => { between.close() })
  return {
    port: (between.address() as AddressInfo).port,
    stop: () => {
      for (const way of ways) way.unpipe().pause()
    }
  }
}

/** The numbers of the received writes, in the order of their events. */
function seen (from: NodeJS.ReadableStream): number[] {
  const numbers: number[] = []
  let rest = ''
  from.on('data', (piece: Buffer) => {
    const lines = (rest + piece.toString()).split('\n')
    rest = (lines.pop() ?? '').slice(-300_000)
    for (const line of lines) {
      const number = /"at":"(\d+)"/.exec(line)?.[1]
      if (number !== undefined) numbers.push(Number(number))
    }
  })
  return numbers
}

t.test('events of 85 MB, and watches that never read: ' +
  'the others get everything in order, and memory is bounded', async t => {
  const server = await serve(t, { storage: { compactionInterval: 500 } })
  const { json } = await server.post(CONFIGS, { metadata: { name: 'big' } })
  const path = `${CONFIGS}?watch=1&resourceVersion=${json.metadata.resourceVersion}`
  // On separate connections, and on the one with streams that will not be read.
  const shared = session(t, server.port)
  const readers = [
    seen(await tls(t, server.port, path)), seen(await stream(session(t, server.port), path)),
    seen(await stream(shared, path))
  ]
  const text = 'x'.repeat(250_000)
  let writes = 0
  const write = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++, writes++) {
      const { code } = await server.put(`${CONFIGS}/big`, {
        metadata: { name: 'big' }, data: { at: String(writes), text }
      })
      if (code !== 200) t.fail(`write ${at}: ${code}`)
    }
    await until(t, 'the readers', () => readers.every(numbers => numbers.length >= writes))
    for (const numbers of readers) t.same(numbers, Array.from({ length: writes }, (_, at) => at))
  }
  await write(280) // as much as the window keeps
  const before = await heapUsed()

  const SILENT = 30
  const now =
    `${CONFIGS}?watch=1&resourceVersion=${(await server.get(`${CONFIGS}?limit=1`)).json.metadata.resourceVersion}`
  const sockets = await Promise.all(Array.from({ length: SILENT }, () => tls(t, server.port, now)))
  for (const socket of sockets) socket.pause()
  const streams = await Promise.all(Array.from({ length: SILENT }, () => stream(shared, now)))
  for (const one of streams) one.pause()
  const line = await relay(t, server.port)
  const deaf = session(t, line.port)
  for (const one of await Promise.all(Array.from({ length: SILENT }, () => stream(deaf, now)))) one.resume()
  line.stop()
  await until(t, 'the watches', () => server.open.size === 3 * SILENT + 3)
  await write(60)
  // They missed 1.3 GB. The store, here in memory, keeps some of the writes until it is compacted.
  const grown = (await heapUsed() - before) / MB
  t.ok(grown < 150, `the server holds ${grown.toFixed(0)} MB more`)

  for (const socket of sockets) socket.destroy()
  shared.destroy()
  deaf.destroy()
  await until(t, 'the end of the watches', () => server.open.size === 2)
  t.same(server.log, [])
})

t.test('a watch does not keep its initial state in memory', async t => {
  const server = await serve(t)
  await server.post(CONFIGS, { metadata: { name: 'a' } })
  const state = new WeakRef(server.cache.snapshot.map)
  const over = session(t, server.port)
  const others = seen(await tls(t, server.port, `${CONFIGS}?watch=1`))
  const read = seen(await stream(over, `${CONFIGS}?watch=1`))
  await server.patch(`${CONFIGS}/a`, { data: { at: '1' } })
  await until(t, 'the change', () => read.length === 1 && others.length === 1)
  await heapUsed()
  t.equal(server.open.size, 2)
  t.equal(state.deref(), undefined)
})

t.test('six hundred watches that open and close at once leave nothing behind, ' +
  'and others are served meanwhile', async t => {
  const server = await serve(t)
  for (let at = 0; at < 20; at++) {
    await server.post(CONFIGS, { metadata: { name: `c-${at}`, labels: { a: String(at % 2) } } })
  }
  const paths = [
    `${CONFIGS}?watch=1`, `${CONFIGS}?watch=1&allowWatchBookmarks=true&resourceVersion=0`,
    '/api/v1/configmaps?watch=1&labelSelector=a%3D1', `${CONFIGS}?watch=1&resourceVersion=1`,
    `${CONFIGS}?watch=1&fieldSelector=metadata.name%3Dc-1`
  ]
  const subscribers = server.cache.subscribers
  const inFlight = server.inFlight()
  const asking = { goes: true, answers: 0, longest: 0 }
  const asked = (async () => {
    const other = session(t, server.port)
    while (asking.goes) {
      const since = performance.now()
      const one = await stream(other, `${CONFIGS}/c-1`)
      one.resume()
      await once(one, 'close')
      asking.answers++
      asking.longest = Math.max(asking.longest, performance.now() - since)
      await sleep(5) // leaves some CPU to the watches
    }
  })()
  for (let round = 0; round < 2; round++) {
    const sessions = Array.from({ length: 5 }, () => session(t, server.port))
    const [sockets] = await Promise.all([
      Promise.all(Array.from(
        { length: 100 }, (_, at) => tls(t, server.port, paths[at % paths.length] as string)
      )), // the index is within bounds
      Promise.all(sessions.flatMap(of => Array.from(
        { length: 100 }, async (_, at) => { (await stream(of, paths[at % paths.length] as string)).resume() }
      )))
    ])
    for (const socket of sockets) socket.resume()
    await until(t, 'the watches', () => server.open.size === 600)
    t.equal(server.cache.subscribers - subscribers, 600)
    await server.patch(`${CONFIGS}/c-1`, { metadata: { annotations: { round: String(round) } } })
    for (const socket of sockets) socket.destroy()
    for (const one of sessions) one.destroy()
    await until(t, 'the end of the watches', () => server.open.size === 0 && server.inFlight() <= inFlight + 1)
    t.equal(server.cache.subscribers, subscribers)
  }
  asking.goes = false
  await asked
  t.ok(
    asking.answers > 20,
    `${asking.answers} other requests were answered, the slowest in ${asking.longest.toFixed(0)} ms`
  )
  t.same(server.log, [])
})
