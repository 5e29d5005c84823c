/** Interface, 'Limits': the implemented ones, by the option of each flag. */
import t from 'tap'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { BINDINGS, Watch, listen, build, binding, type Answer } from '../build.js'
import { CONFIGS, serve, session, stream, tls, until } from '../secure-server.js'
import type { Authenticator, Authorizer } from '../../app.js'

/** Holds the requests about an object called held until it is opened. */
function gate (): { authorizer: Authorizer, open: () => void, waiting: () => number } {
  let release: Array<() => void> = []
  return {
    authorizer: {
      name: 'gate',
      authorize: ({ info }) => info.name !== 'held'
        ? { decision: 'Allow' }
        : new Promise(resolve => { release.push(() => { resolve({ decision: 'Allow' }) }) })
    },
    open: () => {
      for (const one of release) one()
      release = []
    },
    waiting: () => release.length
  }
}

/** A client that reads no response. */
function unread (t: Parameters<typeof serve>[0], port: number): ClientHttp2Session {
  const made = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, settings: { initialWindowSize: 0 } })
  made.on('error', () => {})
  t.teardown(() => { made.destroy() })
  return made
}

async function status (t: Parameters<typeof serve>[0], port: number, path: string): Promise<unknown> {
  const [head] = await once(session(t, port).request({ ':path': path }), 'response') as [Record<string, unknown>]
  return head[':status']
}

const turn = (): Promise<void> => new Promise(resolve => { setImmediate(resolve) })

t.test('--max-requests-inflight and --max-mutating-requests-inflight bound each kind by itself', async t => {
  const { authorizer, open, waiting } = gate()
  const server = await build(t, {
    limits: { maxRequestsInflight: 3, maxMutatingRequestsInflight: 2 }, authorization: { authorizers: [authorizer] }
  })
  const busy: Array<Promise<Answer>> = []
  for (let index = 0; index < 3; index++) busy.push(server.get(`${BINDINGS}/held`))
  for (let index = 0; index < 2; index++) busy.push(server.delete(`${BINDINGS}/held`))
  while (waiting() < 5) await turn()
  for (const answer of [await server.get(BINDINGS), await server.post(BINDINGS, binding('a'))]) {
    t.match(answer, {
      code: 429, json: { kind: 'Status', reason: 'TooManyRequests', code: 429 }, headers: { 'retry-after': /^\d+$/ }
    })
  }
  t.equal((await server.get('/livez')).code, 200, 'health checks are always answered')
  open()
  await Promise.all(busy)
  t.equal((await server.get(BINDINGS)).code, 200)
  t.equal((await server.post(BINDINGS, binding('a'))).code, 201)
})

t.test('0 is no limit', async t => {
  const { authorizer, open, waiting } = gate()
  const server = await build(t, {
    limits: { maxRequestsInflight: 0, maxMutatingRequestsInflight: 0 }, authorization: { authorizers: [authorizer] }
  })
  const busy = Array.from(
    { length: 1000 }, (_, index) => index % 2 === 0 ? server.get(`${BINDINGS}/held`) : server.delete(`${BINDINGS}/held`)
  )
  while (waiting() < 1000) await turn()
  t.equal((await server.post(BINDINGS, binding('a'))).code, 201)
  open()
  t.ok((await Promise.all(busy)).every(({ code }) => code === 404))
})

t.test('watches count toward neither limit', async t => {
  const server = await listen(t, { limits: { maxRequestsInflight: 2 } })
  const watches = await Promise.all(Array.from({ length: 20 }, () => Watch.open(t, `${server.url}${BINDINGS}?watch=1`)))
  t.ok(watches.every(({ code }) => code === 200))
  t.equal((await server.get(BINDINGS)).code, 200)
})

t.test('--request-timeout ends requests with a 504, and watches outlive it', async t => {
  const { authorizer } = gate()
  const server = await listen(t, { limits: { requestTimeout: 100 }, authorization: { authorizers: [authorizer] } })
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1`)
  t.match(await server.get(`${BINDINGS}/held`), { code: 504, json: { kind: 'Status', reason: 'Timeout', code: 504 } })
  await server.post(BINDINGS, binding('a'))
  t.equal((await watch.take(1))[0]?.object.metadata.name, 'a')
})

t.test('--request-timeout is kept, whenever a request comes', async t => {
  const { authorizer } = gate()
  const limits = { requestTimeout: 1000 }
  const server = await listen(t, { limits, authorization: { authorizers: [authorizer] } })
  /** The longest of requests at five times within one timeout, in milliseconds. */
  const longest = async (): Promise<number> => Math.max(...await Promise.all([0, 200, 400, 600, 800].map(async wait => {
    await new Promise(resolve => { setTimeout(resolve, wait) })
    const since = performance.now()
    await server.get(`${BINDINGS}/held`)
    return performance.now() - since
  })))
  let least = Infinity
  // A timer that all share would let one of the five wait for nearly two timeouts in every round; a busy machine in
  // some.
  for (let round = 0; round < 10 && least >= 1600; round++) least = Math.min(least, await longest())
  t.ok(least < 1600, `${least.toFixed(0)} ms`)
})

t.test('a request may shorten its timeout with ?timeout=, not extend it, and invalid values are refused', async t => {
  const { authorizer } = gate()
  const server = await listen(t, {
    limits: { requestTimeout: 3_600_000 }, authorization: { authorizers: [authorizer] }
  })
  for (const asked of ['50ms', '0.05s']) {
    t.match(
      await server.get(`${BINDINGS}/held?timeout=${asked}`),
      {
        code: 504, json: { reason: 'Timeout', message: 'Timeout: request did not complete within the allotted timeout' }
      },
      asked
    )
  }
  for (const asked of ['', '0s', '-1s', '100000h', '1m30s']) {
    t.equal((await server.get(`${BINDINGS}?timeout=${asked}`)).code, 200, asked)
  }
  for (const [asked, shown] of [['5', '"5"'], ['soon', '"soon"'], ['1s2', '"1s2"'], ['%00', '"\\u0000"']] as const) {
    t.match(
      await server.get(`${BINDINGS}?timeout=${asked}`),
      {
        code: 400,
        json: {
          reason: 'BadRequest',
          message: `invalid timeout specified in the request URL: ${shown} is no duration such as 1m30s`
        }
      },
      asked
    )
  }
  const short = await listen(t, { limits: { requestTimeout: 100 }, authorization: { authorizers: [authorizer] } })
  t.equal((await short.get(`${BINDINGS}/held?timeout=1h`)).code, 504, 'no longer than the server allows')
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1&timeout=soon`)
  t.equal(watch.code, 200, 'of watches it says nothing')
})

t.test('--min-request-timeout: a watch lasts a random time from one to two of it', async t => {
  const server = await listen(t, { limits: { minRequestTimeoutSeconds: 1 } })
  // If the machine pauses for a second, all of them end together; then the requests are sent again.
  for (let round = 1; ; round++) {
    const seconds = await Promise.all(Array.from({ length: 12 }, async () => {
      const since = performance.now()
      const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1`)
      await watch.end()
      return (performance.now() - since) / 1000
    }))
    const [least, most] = [Math.min(...seconds), Math.max(...seconds)]
    const shown = seconds.map(one => one.toFixed(2)).join()
    t.ok(least >= 0.99, shown)
    if (most < 3 && most - least > 0.05) break
    if (round === 5) throw new Error(`longer than two seconds, or all at one time: ${shown}`)
  }
})

t.test('--delete-collection-workers: many do the same as one', async t => {
  for (const deleteCollectionWorkers of [1, 8]) {
    const server = await build(t, { limits: { deleteCollectionWorkers } })
    for (let index = 0; index < 40; index++) await server.post(BINDINGS, binding(`n-${index}`))
    t.equal((await server.call('DELETE', BINDINGS)).code, 200)
    t.equal((await server.get(BINDINGS)).json.items.length, 0)
  }
})

t.test('the history of changes is kept for a limited time', async t => {
  const server = await build(t, { storage: { compactionInterval: 20 } })
  await server.post(BINDINGS, binding('a'))
  let resourceVersion: string
  const exact = (): Promise<Answer> =>
    server.get(`${BINDINGS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)
  do resourceVersion = (await server.get(BINDINGS)).json.metadata.resourceVersion
  while ((await exact()).code !== 200) // on a busy machine the version may be compacted between the two
  for (const deadline = Date.now() + 60_000; (await exact()).code !== 410;) {
    if (Date.now() > deadline) throw new Error('it is still kept')
    await server.patch(`${BINDINGS}/a`, { metadata: { labels: { now: String(performance.now()) } } })
    await new Promise(resolve => { setTimeout(resolve, 5) })
  }
  t.equal((await server.get(BINDINGS)).code, 200)
})

t.test('a request whose client disconnects before its turn does not stay in flight', async t => {
  const releases: Array<() => void> = []
  const slow: Authenticator = {
    name: 'slow',
    authenticate: ({ headers }) => headers['x-slow'] === undefined
      ? undefined
      : new Promise(resolve => { releases.push(() => { resolve(undefined) }) })
  }
  const server = await listen(t, { limits: { maxRequestsInflight: 1 }, authentication: { authenticators: [slow] } })
  const left = request(`${server.url}${BINDINGS}`, { headers: { 'x-slow': '1' } })
  left.on('error', () => {})
  left.end()
  while (releases.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
  left.destroy()
  await new Promise(resolve => setTimeout(resolve, 50))
  releases[0]?.()
  await turn()
  t.equal((await server.get(BINDINGS)).code, 200)
  t.match(
    (await server.get('/metrics')).body, /apiserver_current_inflight_requests\{request_kind="readOnly"\} 1\n/,
    'this one alone'
  )
})

t.test('answers that are handed over whole keep no place, whether or not their clients take them', async t => {
  const server = await serve(t, { limits: { maxRequestsInflight: 10 } })
  await server.post(CONFIGS, { metadata: { name: 'held' }, data: { text: 'x'.repeat(1000) } })
  const sessions = [0, 1].map(() => {
    const made = connect(`https://127.0.0.1:${server.port}`, {
      rejectUnauthorized: false, settings: { initialWindowSize: 0 }
    })
    made.on('error', () => {})
    t.teardown(() => { made.destroy() })
    return made
  })
  for (const made of sessions) {
    for (let at = 0; at < 50; at++) made.request({ ':path': `${CONFIGS}/held` }).on('error', () => {})
  }
  await until(t, 'the requests to wait for their clients', () => server.inFlight() === 100)
  const other = session(t, server.port).request({ ':path': `${CONFIGS}/held` })
  const [{ ':status': status }] = await once(other, 'response') as [Record<string, unknown>]
  t.equal(status, 200)
  for (const made of sessions) made.destroy()
  await until(t, 'their end', () => server.inFlight() <= 1)
  t.pass()
})

t.test('nor do lists that are written as their clients read, compressed or not, ' +
  'and large answers that are compressed', async t => {
  const server = await serve(t, { limits: { maxRequestsInflight: 10 } })
  for (let at = 0; at < 30; at++) {
    await server.post(CONFIGS, { metadata: { name: `n${at}` }, data: { text: randomBytes(20_000).toString('base64') } })
  }
  await server.post(CONFIGS, { metadata: { name: 'large' }, data: { text: randomBytes(300_000).toString('base64') } })
  const encodings = { plain: {}, gzip: { 'accept-encoding': 'gzip' } }
  for (const path of [CONFIGS, `${CONFIGS}/large`]) {
    for (const [name, headers] of Object.entries(encodings)) {
      const made = unread(t, server.port)
      for (let at = 0; at < 30; at++) {
        const one = made.request({ ':path': path, ...headers }).on('error', () => {})
        if (at % 5 === 4) await once(one, 'response')
      }
      await until(t, 'the requests to wait for their client', () => server.inFlight() === 30)
      // Until then the last of them hold places while their responses are compressed.
      while (await status(t, server.port, `${CONFIGS}/n1`) === 429) {
        await new Promise(resolve => { setTimeout(resolve, 20) })
      }
      t.equal(await status(t, server.port, `${CONFIGS}/n1`), 200, `${path} ${name}`)
      made.destroy()
      await until(t, 'their end', () => server.inFlight() <= 1)
    }
  }
  const socket = await tls(t, server.port, CONFIGS)
  socket.pause()
  socket.write(`GET ${CONFIGS} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(20))
  await until(t, 'the first to wait', () => server.inFlight() >= 1)
  t.equal(await status(t, server.port, `${CONFIGS}/n1`), 200)
})

t.test('of clients that do not read, those that hold the most memory are disconnected first', async t => {
  const server = await serve(t, { limits: { maxRequestsInflight: 50 } })
  const watching = await stream(session(t, server.port), `${CONFIGS}?watch=1`)
  const little = unread(t, server.port)
  little.request({ ':path': '/openapi/v2' }).on('error', () => {})
  const { body } = await server.get('/openapi/v2')
  const sessions = 6
  const each = Math.ceil(120 * 1024 * 1024 / sessions / body.length)
  const many: ClientHttp2Session[] = []
  for (let at = 0; at < sessions; at++) {
    const made = unread(t, server.port)
    many.push(made)
    for (let asked = 0; asked < each; asked++) {
      const one = made.request({ ':path': '/openapi/v2' }).on('error', () => {})
      if (asked % 40 === 39) await once(one, 'response')
    }
  }
  await until(t, 'one of them to be ended', () => many.some(({ destroyed }) => destroyed))
  await sleep(1500)
  t.ok(many.some(({ destroyed }) => !destroyed), 'no more than have to be')
  t.equal(little.destroyed, false)
  t.equal(watching.closed, false)
  t.equal(await status(t, server.port, CONFIGS), 200)
  t.match(server.log.join(''), /do not read/)
})
