import t from 'tap'
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { Wire } from '../bad-input/wire.js'
import { fault, heapUsed } from '../bad-input/refusal.js'
import { CONFIGS, serve, until, type Served } from '../secure-server.js'

const MiB = 1024 * 1024
const head = (path: string, more: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}\r\n`
/** A ConfigMap of exactly that many bytes. */
const config = (name: string, length: number): Buffer => {
  const empty = JSON.stringify({ metadata: { name }, data: { text: '' } })
  return Buffer.from(empty.replace('""', `"${'x'.repeat(length - empty.length)}"`))
}

/** A request whose body never ends. */
async function unfinished (
  t: Parameters<typeof serve>[0], { port }: Served, length: number, path = CONFIGS
): Promise<Wire> {
  const wire = await Wire.open(t, port)
  return wire.write(head(path, `Content-Length: ${length}\r\n`)).write(Buffer.alloc(length - 1, 0x20))
}

t.test(
  'bodies of subresources that are not there are neither waited for nor held, whatever they are called', async t => {
    const server = await serve(t)
    for (const name of ['log', 'attach', 'exec', 'portforward', 'proxy', 'none']) {
      const wire = await unfinished(t, server, 100_000, `${CONFIGS}/y/${name}`)
      t.match(await wire.response(2000), { code: 404, json: { reason: 'NotFound' } }, name)
      wire.socket.destroy()
    }
    for (const path of ['/api/v1/none/y/log', '/apis/x/v1/y', '/nowhere']) {
      const wire = await unfinished(t, server, 100_000, path)
      t.equal((await wire.response(2000))?.code, 404, path)
      wire.socket.destroy()
    }
    await until(t, 'them all to have ended', () => server.inFlight() === 0)
  }
)

t.test('bodies share one bound: ' +
  'what does not fit is refused with 429, and what is given back can be used again', async t => {
  const server = await serve(t, { limits: { maxBodyBytesInflight: 8 * MiB } })
  const wires = await Promise.all(Array.from({ length: 24 }, () => unfinished(t, server, MiB)))
  const refused: Wire[] = []
  await Promise.all(wires.map(async wire => {
    const answer = await wire.response(1500).catch(() => undefined)
    if (answer === undefined && !wire.ended) return
    // The connection closes while bytes still arrive, so the response may be lost.
    if (answer !== undefined) t.match([fault(answer, [429]), answer.headers['retry-after']], [undefined, /^\d+$/])
    refused.push(wire)
  }))
  const held = wires.filter(wire => !refused.includes(wire))
  t.ok(held.length >= 4 && held.length <= 8, `${held.length} are held`)
  t.equal((await server.get(CONFIGS)).code, 200, 'reading is not concerned')
  t.equal((await server.delete(`${CONFIGS}/none`)).code, 404, 'nor are requests without a body')

  const [one, ...others] = held
  for (const wire of others) wire.socket.destroy()
  await until(t, 'what left to be forgotten', () => server.inFlight() === 1)
  const large = await Promise.all(Array.from(
    { length: 4 }, (_, at) => server.call('POST', CONFIGS, config(`large-${at}`, 900_000))
  ))
  t.same(large.map(({ code }) => code), [201, 201, 201, 201])
  one?.write('x')
  t.equal((await one?.response())?.code, 400, 'a held body is read to its end')
  await until(t, 'everything to be over', () => server.inFlight() === 0)
  for (let at = 0; at < 20; at++) {
    t.equal((await server.call('POST', CONFIGS, config(`again-${at}`, 900_000))).code, 201)
  }
})

t.test('administrators find room when others have taken theirs', async t => {
  const tokens = 'admin-token,admin,1,system:masters\nuser-token,user,2\n'
  const server = await serve(t, { limits: { maxBodyBytesInflight: 16 * MiB }, authentication: { tokens } })
  const [large, little] = ['Authorization: Bearer user-token\r\n', 'Authorization: Bearer admin-token\r\n']
  const wires = await Promise.all(Array.from({ length: 20 }, async () => {
    const wire = await Wire.open(t, server.port)
    return wire.write(head(CONFIGS, `${large}Content-Length: ${MiB}\r\n`)).write(Buffer.alloc(MiB - 1, 0x20))
  }))
  await until(t, 'some to be refused', () => wires.some(({ ended }) => ended))
  const body = config('small', 200)
  const ask = async (who: string): Promise<number | undefined> => {
    const wire = await Wire.open(t, server.port)
    const answer = await wire.write(head(CONFIGS, `${who}Content-Length: ${body.length}\r\n`)).write(body).response()
    wire.socket.destroy()
    return answer?.code
  }
  const filler = config('filler', 60_000)
  for (let at = 0; at < 100; at++) {
    const wire = await Wire.open(t, server.port)
    wire.write(head(CONFIGS, `${large}Content-Length: ${filler.length}\r\n`)).write(filler.subarray(1))
  }
  let last: number | undefined
  for (const deadline = Date.now() + 60_000; last !== 429 && Date.now() < deadline;) last = await ask(large)
  t.equal(last, 429)
  t.equal(await ask(little), 201)
})

t.test('the body of an unauthenticated request is not held', async t => {
  const server = await serve(t, {
    authentication: { tokens: 'token,user,1' }, limits: { maxBodyBytesInflight: 4 * MiB }
  })
  const before = await heapUsed()
  const wires = await Promise.all(Array.from({ length: 60 }, async () => {
    const wire = await Wire.open(t, server.port)
    return wire.write(head(CONFIGS, `Authorization: Bearer none\r\nContent-Length: ${3 * MiB}\r\n`))
  }))
  const answers = await Promise.all(wires.map(wire => wire.response()))
  t.same([...new Set(answers.map(answer => answer?.code))], [401], 'before a byte of it has come')
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
  t.teardown(() => { session.destroy() })
  session.on('error', () => {})
  const streams: ClientHttp2Stream[] = []
  for (let at = 0; at < 20; at++) {
    const stream = session.request({
      ':method': 'POST',
      ':path': CONFIGS,
      authorization: 'Bearer none',
      'content-type': 'application/json',
      'content-length': String(3 * MiB)
    })
    stream.on('error', () => {}).write(Buffer.alloc(200_000, 0x20))
    streams.push(stream)
  }
  const codes = await Promise.all(streams.map(async stream =>
    (await once(stream, 'response') as [OutgoingHttpHeaders])[0][':status']))
  t.same([...new Set(codes)], [401])
  for (const stream of streams) stream.resume()
  await until(t, 'every stream to be closed', () => server.inFlight() === 0)
  for (const wire of wires) wire.write(Buffer.alloc(500_000, 0x20))
  await sleep(200)
  const grown = await heapUsed() - before
  t.ok(grown < 40 * MiB, `${Math.round(grown / 1024)} KiB more`)
})

t.test('a body in single bytes costs no more than in one piece', async t => {
  const server = await serve(t)
  const pieces = Buffer.from('1\r\n \r\n'.repeat(50_000))
  const wires = await Promise.all(Array.from({ length: 3 }, () => Wire.open(t, server.port)))
  const before = await heapUsed()
  for (const wire of wires) wire.write(head(CONFIGS, 'Transfer-Encoding: chunked\r\n')).write(pieces)
  await until(t, 'all to be sent', () => wires.every(({ socket }) => socket.writableLength === 0))
  await sleep(500)
  const grown = await heapUsed() - before
  t.ok(grown < 10 * MiB, `${Math.round(grown / 1024)} KiB more for ${3 * 50_000} bytes`)
  for (const wire of wires) wire.write('0\r\n\r\n')
  for (const wire of wires) t.equal((await wire.response())?.code, 400)
})

t.test('an encoded body is refused before it is read', async t => {
  const server = await serve(t)
  const wire = await Wire.open(t, server.port)
  wire.write(head(CONFIGS, 'Content-Encoding: gzip\r\nContent-Length: 100000\r\n'))
  t.match(await wire.response(2000), { code: 415, json: { reason: 'UnsupportedMediaType', message: /gzip/ } })
})

t.test(
  'bodies of more than 3 MiB are refused, known beforehand or not; up to there they are taken in any pieces',
  async t => {
    const server = await serve(t)
    const wire = await Wire.open(t, server.port)
    wire.write(head(CONFIGS, `Content-Length: ${3 * MiB + 1}\r\n`))
    t.match(await wire.response(2000), { code: 413 }, 'at once')
    const chunked = await Wire.open(t, server.port)
    chunked.write(head(CONFIGS, 'Transfer-Encoding: chunked\r\n'))
    for (let at = 0; at < 4 && !chunked.ended; at++) {
      chunked.write(`${MiB.toString(16)}\r\n`).write(Buffer.alloc(MiB, 0x20)).write('\r\n')
    }
    const answer = await chunked.response()
    if (answer !== undefined) t.equal(answer.code, 413)
    await chunked.end()

    const whole = config('whole', 900_001)
    for (const size of [1, 1000, 4096, 65_536, 900_000]) {
      const pieces = await Wire.open(t, server.port)
      pieces.write(head(CONFIGS, 'Transfer-Encoding: chunked\r\n'))
      const body =
        size === 1 ? config('one', 300) : Buffer.from(whole.toString().replace('whole', `n${size}`.padEnd(5, '0')))
      for (let at = 0; at < body.length; at += size) {
        const piece = body.subarray(at, at + size)
        pieces.write(`${piece.length.toString(16)}\r\n`).write(piece).write('\r\n')
      }
      const made = await pieces.write('0\r\n\r\n').response()
      t.equal(made?.code, 201, `in pieces of ${size}`)
      t.match(made?.json['data'].text, /^x+$/)
    }
  }
)

t.test('an unfinished HTTP/2 body is released with its response, though its connection stays', async t => {
  const server = await serve(t, {
    limits: { maxBodyBytesInflight: 15 * MiB, maxMutatingRequestsInflight: 6, requestTimeout: 3000 }
  })
  for (const settings of [{}, { initialWindowSize: 0 }]) {
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false, settings })
    t.teardown(() => { session.destroy() })
    session.on('error', () => {})
    const streams = Array.from({ length: 6 }, () => {
      const stream = session.request(
        { ':method': 'POST', ':path': CONFIGS, 'content-type': 'application/json' }, { endStream: false }
      )
      stream.on('error', () => {}).resume().write(Buffer.alloc(MiB + 10, 0x20))
      return stream
    })
    const codes = await Promise.all(streams.map(async stream =>
      (await once(stream, 'response') as [OutgoingHttpHeaders])[0][':status']))
    t.same([...new Set(codes)], [408])
    const reads = !('initialWindowSize' in settings)
    if (reads) await until(t, 'every stream to be over', () => server.inFlight() === 0)
    else for (const stream of streams) stream.write(Buffer.alloc(60_000, 0x20))
    await sleep(50)
    const name = reads ? 'taken' : 'not-taken'
    const made = await Promise.all([1, 2, 3, 4].map(at =>
      server.call('POST', CONFIGS, config(`${name}-${at}`, 900_000))))
    t.same(made.map(({ code }) => code), [201, 201, 201, 201], `their answers ${name}`)
    t.equal(session.destroyed, false)
    if (reads) for (const stream of streams) t.equal(stream.rstCode, 0, 'reset without an error')
    session.destroy()
  }
})

t.test('a body that no header speaks of is read all the same', async t => {
  const server = await serve(t)
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
  t.teardown(() => { session.destroy() })
  const send = async (method: string, path: string, body: object): Promise<unknown> => {
    const stream = session.request({ ':method': method, ':path': path }, { endStream: false })
    stream.resume().end(JSON.stringify(body))
    return (await once(stream, 'response') as [OutgoingHttpHeaders])[0][':status']
  }
  const named = { metadata: { name: 'silent' } }
  t.equal(await send('POST', CONFIGS, named), 201)
  t.equal(await send('PUT', `${CONFIGS}/silent`, { ...named, data: { a: 'b' } }), 200)
  t.equal(await send('DELETE', `${CONFIGS}/silent`, { preconditions: { uid: 'another' } }), 409)
})
