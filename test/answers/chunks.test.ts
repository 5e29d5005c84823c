/** Memory of pieces is used again when they are sent, and not before. */
import t from 'tap'
import { Writable } from 'node:stream'
import { CHUNK_BYTES, ChunkWriter, makeChunk } from '../../answers/chunks.js'

/** A stream that holds what it is given until it is told to send it. */
function holding (): { out: Writable, send: (error?: Error) => void } {
  const held: Array<(error?: Error) => void> = []
  const out = new Writable({ write: (_piece, _encoding, done) => { held.push(done) }, highWaterMark: 10 * CHUNK_BYTES })
  out.on('error', () => {})
  return { out, send: error => { held.shift()?.(error) } }
}

const drain = (): Buffer[] => Array.from({ length: 40 }, makeChunk)

t.test('a chunk is used again once it is sent', async t => {
  drain()
  const { out, send } = holding()
  const writer = new ChunkWriter(out, out)
  const chunk = makeChunk()
  writer.write(chunk.subarray(0, 10))
  t.ok(drain().every(({ buffer }) => buffer !== chunk.buffer), 'while it is being sent')
  send()
  await writer.drained()
  t.equal(makeChunk().buffer, chunk.buffer)
  t.not(makeChunk().buffer, chunk.buffer, 'once')
})

t.test('one that could not be sent is not used again, nor are bytes of others', async t => {
  drain()
  const { out, send } = holding()
  const writer = new ChunkWriter(out, out)
  const foreign = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  writer.write(foreign)
  send()
  await writer.drained()
  const chunk = makeChunk()
  t.not(chunk.buffer, foreign.buffer)
  writer.write(chunk)
  send(new Error('the connection is gone'))
  await writer.drained()
  t.ok(drain().every(({ buffer }) => buffer !== chunk.buffer))
})
