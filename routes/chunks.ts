/**
 * Sends large responses in reusable chunks. A chunk may be reused only after its write has called back. A response's `drain` proves nothing, as Node also
 * emits it when a later response on the connection buffers bytes.
 */
import type { ServerResponse } from 'node:http'

/** Smaller chunks would cost a TLS record and a system call each. */
export const CHUNK_BYTES = 128 * 1024

/** Unused chunks: fresh memory costs more than copying. */
const spare: Buffer[] = []
const MAX_SPARE = 8

const takeChunk = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)

/** Writes the chunks of one response and reports back-pressure and disconnects. */
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
  constructor (raw: ServerResponse, out: NodeJS.WritableStream) {
    this.#out = out
    const close = (): void => {
      this.closed = true
      this.#proceed?.()
    }
    raw.once('close', close)
    raw.on('error', close)
  }

  /** Writes immutable bytes. Returns false if the receiver is behind; then await `drained`. */
  write (bytes: Uint8Array): boolean { return this.#write(bytes, undefined) }

  /** Writes the first `used` bytes of a chunk, which the caller must not use again. */
  give (chunk: Buffer, used: number): boolean {
    return this.#write(used === chunk.length ? chunk : chunk.subarray(0, used), chunk)
  }

  /** Returns a chunk to fill. */
  take (): Buffer { return takeChunk() }

  /** Resolves when all writes have called back, or the connection is closed. */
  async drained (): Promise<void> {
    if (this.closed || this.#pendingWrites === 0) return
    await new Promise<void>(resolve => { this.#proceed = resolve })
    this.#proceed = undefined
  }

  #write (bytes: Uint8Array, chunk: Buffer | undefined): boolean {
    this.#pendingWrites++
    const { length } = bytes
    this.unsent += length
    return this.#out.write(bytes, (error?: Error | null) => {
      this.#pendingWrites--
      this.unsent -= length
      // After an error the chunk may still be in use.
      if (chunk !== undefined && (error === undefined || error === null) && spare.length < MAX_SPARE) spare.push(chunk)
      if (this.#pendingWrites === 0) this.#proceed?.()
    })
  }
}

/** Collects small buffers into chunks. */
export class Chunks {
  readonly #writer: ChunkWriter
  #chunk: Buffer
  #used = 0

  constructor (outlet: ChunkWriter) {
    this.#writer = outlet
    this.#chunk = outlet.take()
  }

  /** Copies `bytes`; returns false if the receiver is behind. */
  add (bytes: Uint8Array): boolean {
    const { length } = bytes
    if (length > CHUNK_BYTES / 2) {
      const flushed = this.flush()
      return this.#writer.write(Buffer.from(bytes)) && flushed
    }
    let open = true
    if (this.#used + length > CHUNK_BYTES) open = this.flush()
    this.#chunk.set(bytes, this.#used)
    this.#used += length
    return open
  }

  flush (): boolean {
    if (this.#used === 0) return true
    const open = this.#writer.give(this.#chunk, this.#used)
    this.#chunk = this.#writer.take()
    this.#used = 0
    return open
  }
}
