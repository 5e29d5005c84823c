/** What clients with open watches see of a server that is ended by SIGTERM and started again. */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import type { Json } from './build.js'
import { launchApart, TOKEN, type Apart } from './benchmarks/process.js'
import { polled } from './polled.js'

const WATCHES = 200
const STREAMS = 50
const MAPS = '/api/v1/namespaces/default/configmaps'
const HEADERS = { authorization: `Bearer ${TOKEN}`, accept: 'application/json', 'content-type': 'application/json' }

/** How an exchange went. */
interface Exchange {
  readonly status: number
  readonly retryAfter: number
  readonly isWhole: boolean
  readonly endedAt: number
}

/** Sends a request; resolves when its answer has ended. */
type Ask = (path: string, heard: (line: string) => void) => Promise<Exchange>

function lines (heard: (line: string) => void): (chunk: Buffer | string) => void {
  let text = ''
  return chunk => {
    const parts = (text + chunk.toString()).split('\n')
    text = parts.pop() ?? ''
    for (const line of parts) heard(line)
  }
}

/** Over a connection of its own. */
const overHttp1 = (port: number, resets: string[]): Ask => (path, heard) => new Promise((resolve, reject) => {
  let isAnswered = false
  const asked = httpsRequest({
    port, host: '127.0.0.1', path, headers: HEADERS, rejectUnauthorized: false, agent: new Agent({ keepAlive: false })
  }, response => {
    isAnswered = true
    response.on('data', lines(heard)).on('error', () => {})
    response.on('close', () => {
      resolve({
        status: response.statusCode ?? 0,
        retryAfter: Number(response.headers['retry-after'] ?? 0),
        isWhole: response.complete,
        endedAt: performance.now()
      })
    })
  })
  asked.on('socket', (socket: Socket) => {
    socket.on('close', hadError => { if (hadError && isAnswered) resets.push('a connection') })
  })
  asked.on('error', reject)
  asked.end()
})

/** Over connections of many streams. */
function overHttp2 (t: Test, port: number, resets: string[]): Ask {
  let session: ClientHttp2Session
  let streams = STREAMS
  return (path, heard) => new Promise((resolve, reject) => {
    if (streams === STREAMS || session.closed || session.destroyed) {
      streams = 0
      const opened = session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
      opened.on('error', error => { reject(error) })
      opened.on('goaway', code => { if (code !== 0) resets.push(`GOAWAY ${code}`) })
      t.teardown(() => { opened.destroy() })
    }
    streams++
    const stream = session.request({ ':path': path, ...HEADERS })
    let [status, retryAfter, isWhole] = [0, 0, false]
    stream.on('response', headers => {
      [status, retryAfter] = [headers[':status'] ?? 0, Number(headers['retry-after'] ?? 0)]
    })
    stream.on('data', lines(heard)).on('end', () => { isWhole = true })
    stream.on('error', error => {
      if (status !== 0) resets.push(`a stream: ${String(error)}`)
      reject(error)
    })
    stream.on('close', () => {
      resolve({ status, retryAfter, isWhole: isWhole && stream.rstCode === 0, endedAt: performance.now() })
    })
  })
}

const AWAY = new Set(['ECONNREFUSED', 'ECONNRESET'])

/** A client that watches on from where it was, as informers do. */
class Watcher {
  readonly seen: string[] = []
  readonly ends: number[] = []
  readonly faults: string[] = []
  refusals = 0
  #version: string
  #stopped = false

  constructor (version: string) { this.#version = version }

  readonly #heard = (line: string): void => {
    const { type, object } = JSON.parse(line) as { type: string, object: Json }
    this.#version = object['metadata'].resourceVersion as string
    this.seen.push(`${type} ${String(object['metadata'].name)}`)
  }

  /** Watches until it is stopped, through one server after the other. */
  async run (asks: () => Ask): Promise<void> {
    while (!this.#stopped) {
      try {
        const path = `${MAPS}?watch=1&timeoutSeconds=300&resourceVersion=${this.#version}`
        const { status, retryAfter, isWhole, endedAt } = await asks()(path, line => {
          if (!line.includes('"Status"')) this.#heard(line)
        })
        if (status === 429 && retryAfter > 0) {
          this.refusals++
          await new Promise(resolve => { setTimeout(resolve, retryAfter * 1000) })
        } else if (status === 200) {
          if (!isWhole && !this.#stopped) this.faults.push('a watch that was cut off')
          this.ends.push(endedAt)
        } else if (status !== 0) this.faults.push(`status ${status}`)
      } catch (error) {
        // Nobody listens while the server is away, streams wait for a connection then, and a handshake may come too
        // late.
        const { code = '', cause } = error as NodeJS.ErrnoException
        if (!AWAY.has(code) && !AWAY.has((cause as NodeJS.ErrnoException | undefined)?.code ?? '')) {
          this.faults.push(String(error))
        }
        await new Promise(resolve => { setTimeout(resolve, 250) })
      }
    }
  }

  stop (): void { this.#stopped = true }
}

async function ask (server: Apart, method: string, path: string, body?: object): Promise<Json> {
  const asked = httpsRequest({
    port: server.port, host: '127.0.0.1', method, path, headers: HEADERS, rejectUnauthorized: false
  })
  asked.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = await once(asked, 'response') as [import('node:http').IncomingMessage]
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return JSON.parse(text) as Json
}

t.test('watches end one after the other, whole, and their clients come back and have missed nothing', {
  timeout:
    120_000
}, async t => {
  const log = '--v=0'
  const retrying = ['--shutdown-send-retry-after', log]
  let server = await launchApart(retrying)
  t.teardown(() => server.stop())
  const { metadata } = await ask(server, 'GET', MAPS)
  const [http1, http2] = [overHttp1, overHttp2.bind(undefined, t)]
  /** Each with the flags of the server after it. */
  const cases = [
    ['HTTP/1.1', http1, retrying], ['HTTP/2', http2, [log]], ['HTTP/2, nobody listens any more', http2, [log]]
  ] as const
  for (const [at, [title, asksOf, flags]] of cases.entries()) {
    await t.test(title, async t => {
      const resets: string[] = []
      let asks = asksOf(server.port, resets)
      const watchers = Array.from({ length: WATCHES }, () => new Watcher(String(metadata.resourceVersion)))
      const runs = watchers.map(async watcher => { await watcher.run(() => asks) })
      await ask(server, 'POST', MAPS, { metadata: { name: `before-${at}` } })
      await polled(() => watchers.every(({ seen }) => seen.length > 0))
      const before = server
      const exit = once(before.process, 'exit') as Promise<[number | null]>
      before.process.kill('SIGTERM')
      t.equal((await exit)[0], 0)
      t.same(watchers.filter(({ ends }) => ends.length !== 1), [], 'every watch has ended')
      const ends = watchers.flatMap(watcher => watcher.ends).toSorted((a, b) => a - b)
      t.ok((ends.at(-1) ?? 0) - (ends[0] ?? 0) > 500, 'over a second')
      const half = ends[WATCHES / 2] ?? 0
      t.ok(half - (ends[0] ?? 0) > 100 && (ends.at(-1) ?? 0) - half > 100, 'evenly')
      t.equal(watchers.some(({ refusals }) => refusals > 0), at < 2, 'who comes while it ends hears when to come again')
      server = await launchApart(flags, before.folder)
      asks = asksOf(server.port, resets)
      await ask(server, 'POST', MAPS, { metadata: { name: `after-${at}` } })
      await polled(() => watchers.every(({ seen }) => seen.at(-1)?.includes('after') === true))
      for (const watcher of watchers) watcher.stop()
      t.same(new Set(watchers.flatMap(({ seen }) => seen.join())).size, 1, 'all have seen the same, once')
      t.same([...watchers.flatMap(({ faults }) => faults), ...resets], [])
      const gone = once(server.process, 'exit')
      server.process.kill('SIGTERM')
      await Promise.all([...runs, gone])
      server = await launchApart(flags, before.folder)
      metadata.resourceVersion = (await ask(server, 'GET', MAPS))['metadata'].resourceVersion
    })
  }
})
