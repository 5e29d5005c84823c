/** Bodies without a server: what becomes of one that fails, is not sent, or is read by something else. */
import t, { type Test } from 'tap'
import { EventEmitter, once } from 'node:events'
import { get } from 'node:http'
import { PassThrough, Writable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import Fastify from '../fastify.js'
import { Body, piecewise, type Pieces } from '../../answers/body.js'

interface Made {
  readonly body: Body
  readonly raw: Writable
  readonly received: () => string
  readonly log: object[]
  readonly did: string[]
  readonly close: () => void
}

/** A body on a response that collects what it receives. */
function made (pieces: Pieces['pieces'], more: Partial<Pieces> = {}): Made {
  const log: object[] = []
  const did: string[] = []
  const received: Buffer[] = []
  const closing = new EventEmitter()
  const raw = Object.assign(new Writable({
    write: (piece: Buffer, _encoding, done) => {
      received.push(piece)
      done()
    }
  }), {
    headersSent: false,
    flushHeaders: () => {},
    setHeader: (name: string, value: unknown) => { did.push(`${name}: ${String(value)}`) }
  })
  raw.on('error', () => {})
  const orch = {
    auditId: 'the-id', handedOver: () => {}, onClosed: (then: () => void) => { closing.once('close', then) }
  }
  const request = { orch, log: { error: (fields: object) => { log.push(fields) } } }
  // the members that bodies use
  const reply = { raw, request, hijack: () => { did.push('hijack') } } as unknown as FastifyReply
  const body = new Body(
    reply, piecewise(reply, { pieces, compressed: false, ended: () => { did.push('ended') }, ...more })
  )
  return {
    body, raw, log, did, received: () => Buffer.concat(received).toString(), close: () => { closing.emit('close') }
  }
}

function * failing (): Generator<Uint8Array> {
  yield Buffer.from('one')
  throw new Error('no second')
}

const closed = async (t: Test, emitter: Writable): Promise<void> => {
  if (!emitter.closed) await once(emitter, 'close')
  t.ok(emitter.destroyed)
}

t.test('a body takes the response over when it is piped into it, and has its length then', async t => {
  const { body, raw, did, received } = made([Buffer.from('one'), Buffer.from('two')], { length: 6 })
  t.same(did, [])
  body.pipe(raw)
  await once(raw, 'finish')
  t.equal(received(), 'onetwo')
  t.same(did.slice(0, 2), ['hijack', 'content-length: 6'])
})

t.test('Fastify pipes a body into the response, and no longer follows it', async t => {
  const log: Array<{ level: number }> = []
  const logger = { stream: { write: (line: string) => { log.push(JSON.parse(line) as { level: number }) } } }
  const app = Fastify({ logger })
  t.teardown(() => app.close())
  const taken: boolean[] = []
  let sent: Body | undefined
  app.get('/', (_request, reply) => {
    sent = new Body(reply, {
      writeTo: out => {
        taken.push(out === reply.raw)
        out.write('one')
      }
    })
    return reply.send(sent)
  })
  const response = new Promise<void>((resolve, reject) => {
    app.server.once('request', (_request, raw) => { raw.once('close', resolve) })
    app.listen({ port: 0 }).then(origin => {
      get(origin, answer => { answer.once('data', () => { answer.destroy() }) })
    }, reject)
  })
  await response
  await new Promise(resolve => { setImmediate(resolve) })
  t.same(taken, [true])
  t.equal(sent?.destroyed, false, 'a client that leaves is for who writes the body to notice')
  t.same(log.filter(({ level }) => level > 30), [])
})

t.test('a piece that fails ends the connection, and the log has the audit ID', async t => {
  const { body, raw, log, did } = made(failing())
  body.pipe(raw)
  await closed(t, raw)
  t.match(log, [{ err: { message: 'no second' }, auditId: 'the-id' }])
  t.same(did, ['hijack', 'ended'])
})

t.test('a body that something else reads is an ordinary stream', async t => {
  const plain = made([Buffer.from('one'), Buffer.from('two')], { length: 6 })
  t.equal(Buffer.concat(await plain.body.toArray() as Buffer[]).toString(), 'onetwo')
  t.same(plain.did, ['ended'])
  const gzip = made([Buffer.from('one')], { compressed: true })
  t.equal(gunzipSync(Buffer.concat(await gzip.body.toArray() as Buffer[])).toString(), 'one')
  const bad = made(failing())
  await t.rejects(bad.body.toArray(), /could not be finished/)
  t.match(bad.log, [{ auditId: 'the-id' }])
})

t.test('a body that is not sent ends when its response closes, or is answered otherwise', async t => {
  const left = made([])
  left.close()
  t.same(left.did, ['ended'])
  const late = made([Buffer.from('one')])
  Object.assign(late.raw, { headersSent: true })
  late.body.pipe(late.raw)
  t.same(late.did, ['ended'])
  t.equal(late.received(), '')
})

t.test('a body whose response is cut ends, although a hook reads it through another stream', async t => {
  const pieces = Array.from({ length: 100 }, () => Buffer.alloc(100_000))
  const { body, did, close } = made(pieces)
  body.pipe(new PassThrough())
  await once(body, 'pause')
  t.same(did, [])
  close()
  t.ok(body.destroyed)
  while (!did.includes('ended')) await new Promise(resolve => { setImmediate(resolve) })
})

t.test('a body that a hook reads for itself outlives a response that has ended', async t => {
  const { body, raw, close } = made([Buffer.from('one'), Buffer.from('two')])
  const bytes = body.toArray()
  raw.end()
  close()
  t.equal(Buffer.concat(await bytes as Buffer[]).toString(), 'onetwo')
})
