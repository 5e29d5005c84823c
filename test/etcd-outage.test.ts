/**
 * A whole server over an etcd that is down, dies, comes back, and compacts: what its clients see. The store's own
 * history, read directly, tells the truth.
 */
import t, { type Test } from 'tap'
import { request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { Revision } from '../storage/backend.js'
import { openBackend } from '../storage/open.js'
import { Observed } from './contracts/observed.js'
import { Line, startEtcd } from './etcd-process.js'
import { RunningServer, ServerHere, TOKEN, until } from './interop/server.js'
import { ownTime } from './own-time.js'

const SECRETS = '/api/v1/namespaces/default/secrets'
const RANGE = ['/registry/secrets/default/', '/registry/secrets/default0'] as const
/** Milliseconds: much less than any wait in which a request might be stuck, much more than a request takes. */
const AT_ONCE = 1500
const MINUTE = 60_000

interface Seen { readonly type: string, readonly name: string, readonly revision: Revision }

const versionOf = (object: { metadata: { resourceVersion: string } }): Revision =>
  Number(object.metadata.resourceVersion)

/** Lists, then watches, and starts again when a watch ends, as informers do. */
class Informer {
  readonly events: Seen[] = []
  lists = 0
  watches = 0
  /** Versions by name, from the lists and events. */
  readonly state = new Map<string, Revision>()
  readonly #server: RunningServer | ServerHere
  readonly #over = new AbortController()

  constructor (t: Test, server: RunningServer | ServerHere) {
    this.#server = server
    t.teardown(() => { this.#over.abort() })
  }

  async start (): Promise<void> {
    const from = await this.#list()
    void this.#follow(from).catch(error => { if (!this.#over.signal.aborted) throw error })
  }

  async #list (): Promise<Revision> {
    let answer = await this.#server.ask(SECRETS)
    await until('a list', async () => {
      if (answer.code !== 200) answer = await this.#server.ask(SECRETS)
      return answer.code === 200
    })
    const list = JSON.parse(answer.body) as {
      metadata: { resourceVersion: string }
      items: Array<{ metadata: { name: string, resourceVersion: string } }>
    }
    this.state.clear()
    for (const item of list.items) this.state.set(item.metadata.name, versionOf(item))
    this.lists++
    return versionOf(list)
  }

  async #follow (from: Revision): Promise<void> {
    let at = from
    while (!this.#over.signal.aborted) {
      const last = await this.#watch(at)
      at = last === 'expired' ? await this.#list() : last
    }
  }

  /** Resolves when the stream has ended, to the version from which to continue. */
  #watch (from: Revision): Promise<Revision | 'expired'> {
    let last: Revision | 'expired' = from
    return new Promise(resolve => {
      const asked = request(`${this.#server.url}${SECRETS}?watch=1&resourceVersion=${from}`, {
        ca: this.#server.ca, headers: { authorization: `Bearer ${TOKEN}` }, agent: false, signal: this.#over.signal
      }, (response: IncomingMessage) => {
        if (response.statusCode === 410) last = 'expired'
        if (response.statusCode === 200) this.watches++
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => {
          const lines = (text + piece).split('\n')
          text = lines.pop() ?? ''
          if (response.statusCode !== 200) return
          for (const line of lines) last = this.#take(line) ?? last
        })
        response.on('error', () => {})
        response.on('close', () => { resolve(last) })
      })
      asked.on('error', () => { resolve(last) })
      asked.end()
    })
  }

  #take (line: string): Revision | 'expired' | undefined {
    const { type, object } = JSON.parse(line) as {
      type: string
      object: { code?: number, metadata: { name: string, resourceVersion: string } }
    }
    if (type === 'ERROR') return object.code === 410 ? 'expired' : undefined
    const { name } = object.metadata
    const revision = versionOf(object)
    this.events.push({ type, name, revision })
    if (type === 'DELETED') this.state.delete(name)
    else this.state.set(name, revision)
    return revision
  }
}

t.test(
  'a server that starts without etcd reports it, refuses requests at once, and serves when etcd is there', async t => {
    const etcd = await startEtcd(t)
    await etcd.kill()
    const server = await RunningServer.start(
      t, [`--etcd-servers=${etcd.url}`, '--livez-grace-period=1h'], '/livez/ping'
    )
    t.equal(
      (await server.ask(SECRETS, 'POST', { metadata: { name: 'lost' } })).code, 503,
      'after a short absence was waited out'
    )
    t.equal((await server.ask(`${SECRETS}?resourceVersion=0`)).code, 503)

    const alive = await server.ask('/livez')
    t.equal(alive.code, 500)
    t.match(alive.body, /\[-\]etcd failed: reason withheld\n(?:\[\+\]poststarthook\/\S+ ok\n)+livez check failed/)
    t.equal(
      (await server.ask('/livez?exclude=etcd')).code, 200,
      'within the grace period an unfinished hook counts as healthy'
    )
    t.match(await server.ask('/readyz'), {
      code: 500, body: /\[-\]etcd failed[^]*\[-\]informer-sync failed[^]*\[-\]poststarthook\/start-watch-caches failed/
    })

    for (const [path, method] of [
      [SECRETS, 'GET'],
      [`${SECRETS}/one`, 'GET'],
      [`${SECRETS}?resourceVersion=0`, 'GET'],
      [`${SECRETS}?watch=1`, 'GET'],
      [`${SECRETS}?watch=1&resourceVersion=7`, 'GET'],
      [SECRETS, 'POST'],
      [`${SECRETS}/one`, 'DELETE']
    ] as const) {
      const began = ownTime(server.pid)
      const { code, body } = await server.ask(
        path, method, method === 'POST' ? { metadata: { name: 'one' } } : undefined
      )
      const took = ownTime(server.pid) - began
      t.equal(code, 503, `${method} ${path}`)
      t.match(JSON.parse(body), { kind: 'Status', reason: 'ServiceUnavailable', details: { retryAfterSeconds: 1 } })
      t.ok(took < AT_ONCE, `${method} ${path} took ${took.toFixed(0)} ms`)
    }
    t.equal((await server.ask('/version')).code, 200)
    t.match(
      server.log.split('\n').find(line => line.includes('ECONNREFUSED')),
      /ERROR etcd at http:\/\/[^ ]+ does not answer: the server is not ready until it does/,
      'the cause comes before what follows from it'
    )
    t.match(server.log, /WARN {2}a health check fails check=etcd reason="[^\n]*ECONNREFUSED/)
    t.notMatch(server.log, /node:internal/, 'an expected failure has no stack trace')
    t.ok(server.log.split('\n').length < 40, 'and no flood of lines')

    await etcd.start()
    await until('the server to be ready', async () => (await server.ask('/readyz')).code === 200)
    t.equal((await server.ask('/livez')).code, 200)
    t.match(server.log, /INFO {2}a health check passes again check=etcd/)
    t.equal((await server.ask(SECRETS, 'POST', { metadata: { name: 'one' } })).code, 201)
    t.equal((await server.ask(`${SECRETS}/one`)).code, 200)
  }
)

t.test(
  'while etcd hangs a write ends within the timeout of one call, says since when, and asks for no retry', async t => {
    const etcd = await startEtcd(t)
    const server = await ServerHere.start(t, [`--etcd-servers=${etcd.url}`])
    t.equal((await server.ask(SECRETS, 'POST', { metadata: { name: 'one' } })).code, 201)
    const began = Date.now()
    etcd.pause()
    t.teardown(() => { etcd.resume() })
    const answers = await Promise.all([
      server.ask(SECRETS, 'POST', { metadata: { name: 'two' } }), server.ask(`${SECRETS}/one`, 'DELETE')
    ])
    t.ok(Date.now() - began < 20_000, `${Date.now() - began} ms`)
    for (const { code, body } of answers) {
      const { message, details } = JSON.parse(body) as { message: string, details?: { retryAfterSeconds?: number } }
      t.equal(details?.retryAfterSeconds, undefined, 'kubectl would repeat it for a minute')
      if (code === 504) t.match(message, /may or may not have been made/)
      else {
        t.equal(code, 503)
        const since = Date.parse(/has not answered since (\S+);/.exec(message)?.[1] ?? '')
        t.ok(since >= began - 1000 && since <= Date.now(), message)
      }
    }
    etcd.resume()
    await until('the server to be ready', async () => (await server.ask('/readyz')).code === 200)
    t.equal((await server.ask(SECRETS, 'POST', { metadata: { name: 'three' } })).code, 201)
  }
)

t.test('while etcd is killed and restarted under load, a watch continues and sees every change once', async t => {
  const etcd = await startEtcd(t)
  const server = await RunningServer.start(t, [`--etcd-servers=${etcd.url}`])
  const truth = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => truth.close())
  const informer = new Informer(t, server)
  await informer.start()
  const begin = await truth.revision()

  const claims: Array<{ name: string, code: number, revision: Revision }> = []
  const over = new AbortController()
  t.teardown(() => { over.abort() }) // a wait that fails below ends the writers too
  const write = async (writer: number): Promise<void> => {
    for (let at = 0; !over.signal.aborted; at++) {
      const name = `w${writer}-${Math.floor(at / 3)}`
      const path = `${SECRETS}/${name}`
      const step = at % 3
      const { code, body } = step === 0
        ? await server.ask(SECRETS, 'POST', { metadata: { name }, stringData: { at: String(at) } })
        : step === 1
          ? await server.ask(path, 'PUT', { metadata: { name }, stringData: { at: String(at) } })
          : await server.ask(path, 'DELETE')
      claims.push({
        name, code, revision: step < 2 && (code === 200 || code === 201) ? versionOf(JSON.parse(body)) : 0
      })
    }
  }
  const writers = Array.from({ length: 8 }, (_, writer) => write(writer))
  const progress = async (count: number): Promise<void> => {
    const done = claims.length + count
    await until('writes to be answered', () => claims.length >= done)
  }
  const refused = (): number => claims.filter(({ code }) => code === 503 || code === 504).length
  for (let round = 0; round < 3; round++) {
    await progress(60)
    await etcd.kill()
    const before = refused()
    await until('writes to be refused', () => refused() > before)
    await etcd.start()
  }
  await progress(60)
  over.abort()
  await Promise.all(writers)

  const newest = await truth.revision()
  const history = new Observed(truth, ...RANGE, begin)
  await history.upTo(newest)
  const written = history.events.map(event => event.kv.modRevision)
  await until(
    () => `${written.length} events, of which ${informer.events.length} came`,
    () => (informer.events.at(-1)?.revision ?? 0) >= (written.at(-1) ?? 0)
  )
  t.strictSame(informer.events.map(({ revision }) => revision), written, 'every change once and in order')
  t.strictSame([informer.lists, informer.watches], [1, 1], 'on one list and one stream')
  const acknowledged = claims.filter(({ revision }) => revision > 0).map(({ revision }) => revision)
  t.not(acknowledged.length, 0)
  const there = new Set(written)
  t.strictSame(acknowledged.filter(revision => !there.has(revision)), [], 'nothing that was acknowledged is lost')
  t.strictSame(claims.filter(({ code }) => ![200, 201, 404, 409, 503, 504].includes(code)), [])
  t.equal((await server.ask('/readyz')).code, 200)
})

t.test('after a minute without the store no stale read is served as the newest, and the watch continues', async t => {
  const etcd = await startEtcd(t)
  const line = await Line.to(t, etcd.port)
  const server = await ServerHere.start(t, [`--etcd-servers=http://127.0.0.1:${line.port}`])
  const truth = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => truth.close())
  const informer = new Informer(t, server)
  await informer.start()
  const { body: made } = await server.ask(SECRETS, 'POST', { metadata: { name: 'one' } })
  await until('the first change', () => informer.events.length === 1)

  line.refuse(true)
  const key = `${RANGE[0]}one`
  let revision = versionOf(JSON.parse(made))
  const answers = new Map<string, number>()
  const lost = performance.now()
  for (let at = 0; performance.now() - lost < MINUTE; at++) {
    // Meanwhile other programs, which still reach the store, change objects that this server has in memory.
    const { kv } = await truth.get(key)
    if (kv === undefined) throw new Error('the object is gone')
    revision = (await truth.update(key, kv.value, revision)).revision
    for (const [kind, path] of [
      ['newest', `${SECRETS}/one`], ['newest', SECRETS], ['any', `${SECRETS}/one?resourceVersion=0`]
    ] as const) {
      const { code } = await server.ask(path)
      answers.set(`${kind} ${code}`, (answers.get(`${kind} ${code}`) ?? 0) + 1)
    }
    await new Promise(resolve => { setTimeout(resolve, 500) })
  }
  t.strictSame(
    [...answers.keys()].filter(answer => !/^newest 50[34]$|^any 200$/.test(answer)), [],
    'the newest is refused, any version is served'
  )
  line.refuse(false)
  await until('reads of the newest', async () => (await server.ask(`${SECRETS}/one`)).code === 200)
  t.equal(versionOf(JSON.parse((await server.ask(`${SECRETS}/one`)).body)), revision)

  const history = new Observed(truth, ...RANGE, versionOf(JSON.parse(made)) - 1)
  await history.upTo(revision)
  await until('what had happened meanwhile', () => informer.events.at(-1)?.revision === revision)
  t.strictSame(
    informer.events.map(event => event.revision), history.events.map(event => event.kv.modRevision),
    'every change once and in order'
  )
  t.strictSame([informer.lists, informer.watches], [1, 1], 'on one list and one stream')
})

t.test('a compaction interrupts no watch that has kept up; one that has not must list again', async t => {
  const etcd = await startEtcd(t)
  const line = await Line.to(t, etcd.port)
  const server = await ServerHere.start(
    t, [`--etcd-servers=http://127.0.0.1:${line.port}`, '--etcd-compaction-interval=0']
  )
  const truth = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => truth.close())
  const informer = new Informer(t, server)
  await informer.start()
  const begin = await truth.revision()

  let version = ''
  for (let at = 0; at < 30; at++) {
    const { body } = await server.ask(at === 0
      ? SECRETS
      : `${SECRETS}/one`, at === 0 ? 'POST' : 'PUT', { metadata: { name: 'one' }, stringData: { at: String(at) } })
    version = JSON.parse(body).metadata.resourceVersion
    if (at % 10 === 9) await truth.compact(Number(version))
  }
  await until('all changes', () => informer.events.length >= 30)
  t.equal(informer.events.at(-1)?.revision, Number(version))
  t.strictSame([informer.events.length, informer.lists, informer.watches], [30, 1, 1])
  const past = await server.ask(`${SECRETS}?resourceVersion=${begin}&resourceVersionMatch=Exact`)
  t.strictSame([past.code, JSON.parse(past.body).items], [200, []], 'revisions in memory need no history of the store')

  // While the server is cut off, the history advances and is compacted.
  line.refuse(true)
  const key = `${RANGE[0]}one`
  let revision = Number(version)
  for (let at = 0; at < 5; at++) {
    const { kv } = await truth.get(key)
    if (kv === undefined) throw new Error('the object is gone')
    revision = (await truth.update(key, kv.value, revision)).revision
  }
  await truth.compact(revision)
  line.refuse(false)
  await until('a second list', () => informer.lists === 2)
  t.strictSame([...informer.state], [['one', revision]], 'which contains what the watch had missed')
  const { body } = await server.ask(`${SECRETS}/one`, 'PUT', { metadata: { name: 'one' }, stringData: { at: 'last' } })
  await until('the watch to go on', () => informer.state.get('one') === versionOf(JSON.parse(body)))
})
