import t from 'tap'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { BINDINGS, binding } from '../build.js'
import { launchApart, TOKEN } from '../benchmarks/process.js'
import { Wire } from './wire.js'

const MB_IN_KB = 1024
const headers = { authorization: `Bearer ${TOKEN}` }

/** Megabytes of memory a process holds. */
const resident = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / MB_IN_KB

function ask (port: number, method: string, path: string, body?: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({
      port,
      host: '127.0.0.1',
      method,
      path,
      rejectUnauthorized: false,
      headers: { ...headers, 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }
    }, (response: IncomingMessage) => {
      response.resume()
      response.on('end', () => { resolve(response.statusCode ?? 0) })
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

t.test('clients that never read hold little memory of the server, over either protocol', async t => {
  const server = await launchApart()
  t.teardown(() => server.stop())
  const { port } = server
  const text = 'x'.repeat(60_000)
  for (let index = 0; index < 100; index++) {
    if (await ask(port, 'POST', BINDINGS, binding(`large-${index}`, { metadata: { annotations: { text } } })) !== 201) {
      t.fail(`create ${index}`)
    }
  }
  const before = resident(server.process.pid)

  // Lists of 6 MB, 1,200 MB together.
  const lists = await Promise.all(Array.from({ length: 100 }, async () => {
    const wire = await Wire.open(t, port)
    wire.socket.pause()
    return wire.write(`GET ${BINDINGS} HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers.authorization}\r\n\r\n`)
  }))
  const session = connect(`https://127.0.0.1:${port}`, {
    rejectUnauthorized: false, settings: { initialWindowSize: 1000 }
  })
  t.teardown(() => { session.destroy() })
  session.on('error', () => {})
  await once(session, 'connect')
  const streams = Array.from({ length: 200 }, (_, index) => {
    const stream = session.request({ ':path': index % 2 === 0 ? BINDINGS : `${BINDINGS}?watch=1`, ...headers })
    stream.on('error', () => {})
    stream.pause()
    return stream
  })
  await Promise.all(streams.slice(0, 50).map(stream => once(stream, 'response')))
  // What the watches miss: 100 times 12 MB.
  for (let index = 0; index < 200; index++) {
    if (await ask(port, 'PATCH', `${BINDINGS}/large-1`, {
      metadata: { annotations: { text: `${index} ${text}` } }
    }) !== 200) {
      t.fail(`patch ${index}`)
    }
  }
  const grown = resident(server.process.pid) - before
  t.comment(`${before.toFixed(0)} MB before, ${grown.toFixed(0)} MB more`)
  t.ok(grown < 300, `${grown.toFixed(0)} MB more for 2,400 MB that nobody read`)
  t.equal(await ask(port, 'GET', `${BINDINGS}/large-1`), 200, 'others are served meanwhile')
  for (const { socket } of lists) socket.destroy()
  for (const stream of streams) stream.destroy()
  session.destroy()
  t.equal(await ask(port, 'GET', BINDINGS), 200)
})
