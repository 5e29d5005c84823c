/** One end of a connection between two processes. Frames of one event loop turn are sent in one write. */
import type { Socket } from 'node:net'
import { type Frame, FrameReader, FrameWriter, type Kind } from './frames.js'

export interface FrameConnectionOptions {
  readonly frame: (frame: Frame) => void
  /** Called once. */
  readonly closed: () => void
}

export class FrameConnection {
  readonly #socket: Socket
  readonly #writer = new FrameWriter()
  #flushing = false
  #isOpen = true
  #drained: Array<() => void> = []
  #beforeFlush: Array<() => void> = []

  constructor (socket: Socket, { frame, closed }: FrameConnectionOptions) {
    this.#socket = socket
    const reader = new FrameReader()
    socket.on('data', (piece: Buffer) => {
      try {
        reader.push(piece, frame)
      } catch (error) {
        socket.destroy(error as Error) // malformed frame
      }
    })
    socket.on('drain', () => { for (const call of this.#drained.splice(0)) call() })
    socket.on('error', () => {}) // close follows
    socket.once('close', () => {
      this.#isOpen = false
      this.#drained.length = 0
      closed()
    })
  }

  get isOpen (): boolean { return this.#isOpen }

  /** Bytes not yet sent to the other process. */
  get waiting (): number { return this.#socket.writableLength + this.#writer.bytes }

  /** Begins a frame; the caller finishes it with `end`. */
  begin (kind: Kind, number: number): FrameWriter {
    if (!this.#flushing && this.#isOpen) {
      this.#flushing = true
      setImmediate(() => { this.#flush() })
    }
    return this.#writer.begin(kind, number)
  }

  /** Calls back when all waiting bytes were sent; never if the connection closes. */
  whenDrained (call: () => void): void {
    if (this.#socket.writableNeedDrain || this.#flushing) this.#drained.push(call)
    else setImmediate(call)
  }

  /** Calls back before the frames of this turn are sent. */
  beforeSending (call: () => void): void { this.#beforeFlush.push(call) }

  pause (): void { this.#socket.pause() }
  resume (): void { this.#socket.resume() }
  destroy (): void { this.#socket.destroy() }

  /** Sends all frames, then closes the connection. */
  end (): void {
    this.#flush()
    this.#socket.end()
  }

  #flush (): void {
    this.#flushing = false
    for (const call of this.#beforeFlush.splice(0)) call()
    const chunks = this.#writer.take()
    if (!this.#isOpen || chunks.length === 0) return
    if (chunks.length === 1) {
      this.#socket.write(chunks[0] as Buffer) // there is one
    } else {
      this.#socket.cork()
      for (const chunk of chunks) this.#socket.write(chunk)
      this.#socket.uncork()
    }
    if (this.#drained.length > 0 && !this.#socket.writableNeedDrain) {
      setImmediate(() => { for (const call of this.#drained.splice(0)) call() })
    }
  }
}
