import t from 'tap'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { BINDINGS, Watch, listen, binding, type Listening } from '../build.js'
import { heapUsed, stillServes } from './refusal.js'
import { polled } from '../polled.js'

const MB = 1024 * 1024

async function open (t: { teardown: (fn: () => unknown) => void }, port: number, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => { socket.destroy() })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  return socket
}

/** Number of open watches, according to the metrics. */
async function running (server: Listening): Promise<number> {
  const { body } = await server.get('/metrics')
  return [...body.matchAll(/^apiserver_longrunning_requests\{[^}]*verb="WATCH"[^}]*\} (\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count), 0
  )
}

async function until (
  t: { fail: (text: string) => unknown }, what: string, done: () => Promise<boolean> | boolean
): Promise<void> {
  await polled(done, what, 60_000).catch((error: unknown) => { t.fail(String(error)) })
}

t.test('watches that never read hold only the buffers of their connections, and do not slow others', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('loud'))
  const { resourceVersion } = (await server.get(BINDINGS)).json.metadata
  const silent = await Promise.all(Array.from({ length: 100 }, async () => {
    const socket = await open(t, server.port, `${BINDINGS}?watch=1&resourceVersion=${resourceVersion}`)
    socket.pause()
    return socket
  }))
  await until(t, 'the watches', async () => await running(server) === 100)
  const reader = await Watch.open(t, `${server.url}${BINDINGS}?watch=1&resourceVersion=${resourceVersion}`)
  const before = await heapUsed()
  const text = 'x'.repeat(20_000)
  const writes = 200
  for (let index = 0; index < writes; index++) {
    const { code } = await server.patch(`${BINDINGS}/loud`, { metadata: { annotations: { a: `${index} ${text}` } } })
    if (code !== 200) t.fail(`write ${index}: ${code}`)
  }
  const events = await reader.take(writes)
  t.ok(
    events.every(({ type, object }, index) =>
      type === 'MODIFIED' && object.metadata.annotations.a.startsWith(`${index} `)),
    'a watch that reads sees each change once and in order'
  )
  reader.close()
  // Each of them missed 4 MB, together 400; the history itself takes a few tens.
  const grown = (await heapUsed() - before) / MB
  t.ok(grown < 100, `the server holds ${grown.toFixed(0)} MB more`)
  for (const socket of silent) socket.destroy()
  await until(t, 'the end of the watches', async () => await running(server) === 0)
  await stillServes(t, server)
})

t.test('a silent watch whose events are no longer kept is ended, not continued with a gap', async t => {
  const server = await listen(t)
  await server.post(BINDINGS, binding('loud'))
  const { resourceVersion } = (await server.get(BINDINGS)).json.metadata
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1&resourceVersion=${resourceVersion}`)
  watch.response.pause()
  watch.response.socket.pause()
  const text = 'x'.repeat(250_000)
  // More than any window keeps.
  for (let index = 0; index < 340; index++) {
    await server.patch(`${BINDINGS}/loud`, { metadata: { annotations: { a: `${index} ${text}` } } })
  }
  watch.response.socket.resume()
  watch.response.resume()
  await watch.end()
  const numbers = watch.events.filter(({ type }) => type === 'MODIFIED').map(({ object }) =>
    Number(object.metadata.annotations.a.split(' ')[0]))
  t.ok(numbers.every((number, index) => number === index), `what it got is without a gap: ${numbers.length} events`)
  if (watch.events.length > numbers.length) {
    t.match(watch.events.at(-1), { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })
  }
  t.ok(numbers.length < 340, 'it was too slow for all of them')
  await stillServes(t, server)
})

t.test('many watches opened and dropped leave nothing behind', async t => {
  const server = await listen(t)
  for (let index = 0; index < 50; index++) await server.post(BINDINGS, binding(`b-${index}`))
  const paths = [
    `${BINDINGS}?watch=1`, `${BINDINGS}?watch=1&resourceVersion=0&allowWatchBookmarks=true`,
    '/api/v1/configmaps?watch=1', `${BINDINGS}?watch=1&labelSelector=a%3Db`,
    `${BINDINGS}?watch=1&fieldSelector=metadata.name%3Db-1`, `${BINDINGS}?watch=1&resourceVersion=1`
  ]
  const round = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done += 100) {
      // the index is within
      const sockets = await Promise.all(Array.from(
        { length: 100 }, (_, index) => open({ teardown: () => {} }, server.port, paths[index % paths.length] as string)
      ))
      // Some before their response, some during it.
      await Promise.all(sockets.map(async (socket, index) => {
        if (index % 3 === 0) await once(socket, 'data').catch(() => {})
        if (index % 2 === 0) socket.destroy()
        else socket.resetAndDestroy()
      }))
      await server.patch(`${BINDINGS}/b-1`, { metadata: { labels: { a: String(done) } } })
    }
    await until(t, 'the end of the watches', async () => await running(server) === 0)
  }
  await round(300)
  const before = await heapUsed()
  await round(900)
  const grown = (await heapUsed() - before) / MB
  t.ok(grown < 7.5, `the server holds ${grown.toFixed(1)} MB more`)
  await stillServes(t, server)
})

t.test('invalid watches are refused before they begin', async t => {
  const server = await listen(t)
  for (const [path, code] of [
    [`${BINDINGS}?watch=1&resourceVersion=x`, 400],
    [`${BINDINGS}?watch=1&timeoutSeconds=-1`, 400],
    [`${BINDINGS}?watch=1&labelSelector=((`, 400],
    [`${BINDINGS}?watch=1&fieldSelector=spec.x%3D1`, 400],
    ['/api/v1/namespaces/UPPER/configmaps?watch=1', 404],
    ['/apis/none/v1/things?watch=1', 404]
  ] as const) {
    t.equal((await Watch.open(t, `${server.url}${path}`)).code, code, path)
  }
  for (const accept of ['text/html', 'application/yaml']) {
    t.equal((await fetch(`${server.url}${BINDINGS}?watch=1`, { headers: { accept } })).status, 406, `as ${accept}`)
  }
  await stillServes(t, server)
})
