/** Sends large responses in chunks. */
import type { ServerResponse } from 'node:http'

/** Smaller chunks would cost a TLS record and a system call each. */
export const CHUNK_BYTES = 128 * 1024

/** Its own memory: bytes that are being sent belong to one response. */
export const makeChunk = (): Buffer => Buffer.allocUnsafeSlow(CHUNK_BYTES)

/**
 * Writes the chunks of one response and reports back-pressure and disconnects. A response's `drain` proves nothing, as Node also emits it when
 * a later response on the connection buffers bytes.
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
  write (bytes: Uint8Array): boolean {
    this.#pendingWrites++
    const { length } = bytes
    this.unsent += length
    return this.#out.write(bytes, () => {
      this.#pendingWrites--
      this.unsent -= length
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

/** Collects small buffers into chunks. */
export class Chunks {
  readonly #writer: ChunkWriter
  #chunk: Buffer | undefined
  #used = 0

  constructor (writer: ChunkWriter) { this.#writer = writer }

  /** Copies `bytes`; returns false if the receiver is behind. */
  add (bytes: Uint8Array): boolean {
    const { length } = bytes
    if (length > CHUNK_BYTES / 2) {
      const flushed = this.flush()
      return this.#writer.write(Buffer.from(bytes)) && flushed
    }
    let open = true
    if (this.#used + length > CHUNK_BYTES) open = this.flush()
    const chunk = this.#chunk ??= makeChunk()
    chunk.set(bytes, this.#used)
    this.#used += length
    return open
  }

  flush (): boolean {
    if (this.#chunk === undefined) return true
    const full = this.#chunk.subarray(0, this.#used)
    this.#chunk = undefined
    this.#used = 0
    return this.#writer.write(full)
  }
}
