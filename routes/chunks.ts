/**
 * How the bytes of a large answer travel: in chunks whose memory is used again. A chunk is free when the write it
 * was given to has called back, and at no other sign: a `drain` of an answer tells nothing, as Node emits it on the
 * answer that is being sent whenever one that waits behind it on the connection buffers some bytes.
 */
import type { ServerResponse } from 'node:http'

/** Chunks are collected to this size: smaller ones cost a TLS record and a system call each. */
export const CHUNK_BYTES = 128 * 1024

/** Chunks that nobody uses: fresh memory costs more than the copying. */
const spare: Buffer[] = []
const MOST_SPARE = 8

const takeChunk = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)

/** The receiver of one answer: takes chunks, and tells when it is behind or has gone. */
export class ChunkWriter {
  /** Nobody takes what is written any more. */
  closed = false
  /** Bytes of writes that have not called back. */
  unsent = 0
  readonly #out: NodeJS.WritableStream
  /** Writes that have not called back. */
  #waiting = 0
  #proceed: (() => void) | undefined

  /** @param out where the bytes of the answer `raw` go */
  constructor (raw: ServerResponse, out: NodeJS.WritableStream) {
    this.#out = out
    const leave = (): void => {
      this.closed = true
      this.#proceed?.()
    }
    raw.once('close', leave)
    raw.on('error', leave)
  }

  /** Writes bytes that nobody changes. False when the receiver is behind: see `drained`. */
  write (bytes: Uint8Array): boolean { return this.#write(bytes, undefined) }

  /** Writes the first `used` bytes of a chunk, which is not its writer's any more. */
  give (chunk: Buffer, used: number): boolean {
    return this.#write(used === chunk.length ? chunk : chunk.subarray(0, used), chunk)
  }

  /** A chunk to fill. */
  take (): Buffer { return takeChunk() }

  /** Resolves when all that was written has been taken, or the receiver has gone. */
  async drained (): Promise<void> {
    if (this.closed || this.#waiting === 0) return
    await new Promise<void>(resolve => { this.#proceed = resolve })
    this.#proceed = undefined
  }

  #write (bytes: Uint8Array, chunk: Buffer | undefined): boolean {
    this.#waiting++
    const { length } = bytes
    this.unsent += length
    return this.#out.write(bytes, (error?: Error | null) => {
      this.#waiting--
      this.unsent -= length
      // After a failure something may still read it.
      if (chunk !== undefined && (error === undefined || error === null) && spare.length < MOST_SPARE) spare.push(chunk)
      if (this.#waiting === 0) this.#proceed?.()
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

  /** Copies `bytes`; false when the receiver is behind. */
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
