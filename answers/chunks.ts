/** Sends large responses in chunks. */
import type { Writable } from 'node:stream'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'

/** Smaller chunks would cost a TLS record and a system call each. */
export const CHUNK_BYTES = 128 * 1024

const MAX_SPARE = 32
/**
 * Memory of chunks that are sent: V8 collects everything whenever some 32 MB of new ones were allocated. Benchmark:
 * `npm run bench -- forms`, 'LIST pods, protobuf, own names'.
 */
const spare: ArrayBufferLike[] = []
const reusable = new WeakSet<ArrayBufferLike>()

/** Its own memory until a piece of it is sent (`reuseChunk`): bytes that are being sent belong to one response. */
export function makeChunk (): Buffer {
  const memory = spare.pop()
  if (memory !== undefined) return Buffer.from(memory)
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  reusable.add(chunk.buffer)
  return chunk
}

/** Its piece of a chunk is sent; called once for each chunk. */
export function reuseChunk ({ buffer }: Uint8Array): void {
  if (spare.length < MAX_SPARE && reusable.has(buffer)) spare.push(buffer)
}

/**
 * Writes the chunks of one response and reports back-pressure and disconnects. A response's `drain` proves nothing, as
 * Node also emits it when a later response on the connection buffers bytes.
 */
export class ChunkWriter {
  /** True once the connection is closed. */
  closed = false
  /** Bytes of writes that have not called back. */
  unsent = 0
  readonly #out: NodeJS.WritableStream
  /** Writes that have not called back. */
  #pendingWrites = 0
  #proceed: (() => void) | undefined

  /** @param out the stream for the bytes of the response `raw` */
  constructor (raw: Pick<Writable, 'once' | 'on'>, out: NodeJS.WritableStream) {
    this.#out = out
    const close = (): void => {
      this.closed = true
      this.#proceed?.()
    }
    raw.once('close', close)
    raw.on('error', close)
  }

  /** Writes bytes, immutable until then. Returns false if the receiver is behind; then await `drained`. */
  write (bytes: Uint8Array): boolean {
    this.#pendingWrites++
    const { length } = bytes
    this.unsent += length
    return this.#out.write(bytes, error => {
      this.#pendingWrites--
      this.unsent -= length
      if (!error) reuseChunk(bytes)
      if (this.#pendingWrites === 0) this.#proceed?.()
    })
  }

  /** Resolves when all writes have called back, or the connection is closed. */
  async drained (): Promise<void> {
    if (this.closed || this.#pendingWrites === 0) return
    await new Promise<void>(resolve => { this.#proceed = resolve })
    this.#proceed = undefined
  }
}

const LARGE_PART = 16 * 1024
const PARTS_A_LOOK = 8

/** The parts in chunks, each its own memory. Yields to the event loop. */
export async function * chunked (parts: Iterable<Uint8Array | Promise<Uint8Array>>): AsyncGenerator<Uint8Array> {
  let chunk = makeChunk()
  let [used, count] = [0, 0]
  for (const pending of parts) {
    const part = pending instanceof Promise ? await pending : pending
    if (used > 0 && used + part.length > CHUNK_BYTES) {
      yield chunk.subarray(0, used)
      chunk = makeChunk()
      used = 0
    }
    if (part.length > CHUNK_BYTES) yield Buffer.from(part)
    else {
      chunk.set(part, used)
      used += part.length
    }
    // Some parts take no longer than reading the clock; empty ones are between steps that take long.
    const isDue = part.length === 0 || part.length > LARGE_PART || ++count % PARTS_A_LOOK === 0
    if (isDue && turnIsOver()) await nextTurn()
  }
  if (used > 0) yield chunk.subarray(0, used)
}
