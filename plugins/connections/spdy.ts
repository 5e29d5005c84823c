/**
 * The client's end of a SPDY/3.1 connection to a node agent: opens streams, and passes their data in pieces as they
 * arrive. Headers of the agent are not read, its own streams are refused. Windows are not minded in this direction, as
 * agents of the public project know none.
 */
import type { Socket } from 'node:net'
import { Windows } from './spdy-windows.js'

const [SYN_STREAM, SYN_REPLY, RST_STREAM, PING, WINDOW_UPDATE] = [1, 2, 3, 6, 9]
const CONTROL = 0x8003
const FIN = 1
const REFUSED_STREAM = 3
const HEAD_LENGTH = 8
const MAX_CONTROL_LENGTH = 64 * 1024
/** Those of this side are odd. */
const FIRST_ID = 1
/** Milliseconds between pings, which keep idle connections open. */
const PING_INTERVAL = 5000
/** Maximum frames that answer some of an agent which reads none. */
const MAX_ANSWERS = 1000

const NONE = Buffer.alloc(0)

export interface SpdyEvents {
  /** The agent has accepted the stream. */
  readonly replied: (id: number) => void
  /** A piece of its data; `last` with or after the last of it, then the piece may be empty. */
  readonly data: (id: number, piece: Buffer, last: boolean) => void
  /** The connection has ended. Once. */
  readonly ended: () => void
}

/** The start of a deflate stream that stores, and what flushes it: agents then read it without the dictionary. */
const ZLIB_HEAD = Buffer.of(0x78, 0x01)
const FLUSHED = Buffer.of(0, 0, 0, 0xff, 0xff)

function stored (block: Buffer): Buffer[] {
  const head = Buffer.alloc(5)
  head.writeUInt16LE(block.length, 1)
  head.writeUInt16LE(block.length ^ 0xffff, 3)
  return [head, block, FLUSHED]
}

function counted (text: string): Buffer[] {
  const length = Buffer.alloc(4)
  const bytes = Buffer.from(text)
  length.writeUInt32BE(bytes.length)
  return [length, bytes]
}

const numbers = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, at) => { bytes.writeUInt32BE(value, at * 4) })
  return bytes
}

export class SpdyConnection {
  readonly #socket: Socket
  readonly #events: SpdyEvents
  #held: Buffer = NONE
  /** The stream whose data frame is being read, and how much of it is yet to come. */
  #current = 0
  #left = 0
  #isLast = false
  #nextId = FIRST_ID
  #pings = FIRST_ID
  readonly #windows = new Windows((stream, bytes) => { this.#control(WINDOW_UPDATE, numbers(stream, bytes)) })
  /** Frames that are written at the end of this turn of the event loop. */
  readonly #unsent: Buffer[] = []
  /** Answers since the agent has last caught up. */
  #answers = 0

  /** @param head bytes already read from the connection */
  constructor (socket: Socket, head: Buffer, events: SpdyEvents) {
    this.#socket = socket
    this.#events = events
    const pinging = setInterval(() => {
      if (socket.writableNeedDrain) return
      this.#control(PING, numbers(this.#pings))
      this.#pings += 2
    }, PING_INTERVAL)
    let isOpen = true
    const ended = (): void => {
      if (!isOpen) return
      isOpen = false
      clearInterval(pinging)
      this.#windows.close()
      socket.destroy()
      events.ended()
    }
    socket.on('error', ended).once('end', ended).once('close', ended)
    socket.on('data', (chunk: Buffer) => {
      try {
        if (!isOpen) return
        this.#read(chunk)
      } catch {
        ended()
      }
    })
    socket.on('drain', () => { this.#answers = 0 })
    if (head.length > 0) socket.unshift(head)
  }

  /** @returns the number of the stream */
  open (headers: Readonly<Record<string, string>>): number {
    const id = this.#nextId
    this.#nextId += 2
    const pairs = Object.entries(headers)
    const block = Buffer.concat([numbers(pairs.length), ...pairs.flat().flatMap(counted)])
    const start = id === FIRST_ID ? [ZLIB_HEAD] : []
    // No associated stream, the highest priority, no slot.
    this.#control(SYN_STREAM, Buffer.concat([numbers(id, 0), Buffer.alloc(2), ...start, ...stored(block)]))
    return id
  }

  /** @returns false if the agent should read before more is sent */
  data (id: number, bytes: Buffer, last = false): boolean {
    if (!this.#socket.writable) return true
    const head = numbers(id, bytes.length)
    if (last) head[4] = FIN
    if (this.#unsent.push(head, bytes) === 2) setImmediate(() => { this.#send() })
    return !this.#socket.writableNeedDrain
  }

  /**
   * Runs when this turn has read what the agent sent. Writing to one that has closed makes Node destroy the socket
   * with all that has arrived and is unread, such as the outcome of the command.
   */
  #send (): void {
    const frames = this.#unsent.splice(0)
    if (!this.#socket.writable) return
    this.#socket.cork()
    for (const bytes of frames) this.#socket.write(bytes)
    this.#socket.uncork()
  }

  #control (type: number, body: Buffer): void {
    if (!this.#socket.writable) return
    const head = Buffer.alloc(HEAD_LENGTH)
    head.writeUInt16BE(CONTROL, 0)
    head.writeUInt16BE(type, 2)
    head.writeUInt32BE(body.length, 4)
    this.#socket.write(Buffer.concat([head, body]))
  }

  /** @throws Error for a frame that is too long, or answers that are not read */
  #read (chunk: Buffer): void {
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = NONE
    while (rest.length > 0 && !this.#socket.destroyed) {
      if (this.#left > 0) {
        const piece = rest.subarray(0, this.#left)
        rest = rest.subarray(piece.length)
        this.#left -= piece.length
        this.#data(piece, this.#left === 0 && this.#isLast)
        continue
      }
      const length = rest.length < HEAD_LENGTH ? 0 : rest.readUIntBE(5, 3)
      const isControl = (rest[0] as number) >= 0x80 // there is a byte
      if (rest.length < HEAD_LENGTH + (isControl ? length : 0)) {
        if (isControl && length > MAX_CONTROL_LENGTH) throw new Error('a control frame is too long')
        this.#held = rest
        return
      }
      const head = rest.subarray(0, HEAD_LENGTH)
      rest = rest.subarray(HEAD_LENGTH)
      const isLast = ((head[4] as number) & FIN) !== 0
      if (isControl) {
        this.#hear(head.readUInt16BE(2), rest.subarray(0, length), isLast)
        rest = rest.subarray(length)
      } else {
        this.#current = head.readUInt32BE(0)
        this.#left = length
        this.#isLast = isLast
        if (length === 0 && isLast) this.#data(NONE, true)
      }
    }
  }

  #data (piece: Buffer, last: boolean): void {
    const stream = this.#current
    const isOurs = stream % 2 === FIRST_ID % 2 && stream < this.#nextId
    if (isOurs) this.#windows.received(stream, piece.length, last)
    this.#events.data(stream, piece, last)
  }

  /** @throws Error if the agent reads none */
  #answer (type: number, body: Buffer): void {
    if (this.#socket.writableNeedDrain && ++this.#answers > MAX_ANSWERS) throw new Error('answers are not read')
    this.#control(type, body)
  }

  #hear (type: number, body: Buffer, last: boolean): void {
    const id = body.length < 4 ? 0 : body.readUInt32BE(0)
    if (type === SYN_REPLY) {
      this.#events.replied(id)
      if (last) this.#events.data(id, NONE, true)
    } else if (type === RST_STREAM) this.#events.data(id, NONE, true)
    else if (type === PING && id % 2 !== FIRST_ID % 2) this.#answer(PING, numbers(id))
    else if (type === SYN_STREAM) this.#answer(RST_STREAM, numbers(id, REFUSED_STREAM))
  }
}
