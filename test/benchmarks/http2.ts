/**
 * The cheapest HTTP/2 client: hand-written frames over one TLS socket, with the same kind of request on all streams of
 * a connection. It opens the largest window, and reads of a response only what a load test needs: status 200, the
 * number of body bytes and the end. Anything else ends the run.
 */
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { TOKEN } from './process.js'

const DATA = 0
const HEADERS = 1
const RESET = 3
const SETTINGS = 4
const PING = 6
const GOAWAY = 7
const WINDOW_UPDATE = 8
const END_STREAM = 1
const ACK = 1
const END_HEADERS = 4
const HEAD = 9
const LARGEST_WINDOW = 2 ** 31 - 1
const FIRST_WINDOW = 65_535
/** `:status: 200` in the static table. */
const STATUS_200 = 0x88

export interface StreamListener {
  readonly data?: (bytes: Buffer) => void
  readonly head?: () => void
  readonly end?: () => void
  /** Called for anything unexpected, and when the connection ends. */
  readonly fail: (error: Error) => void
}

function frame (type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(HEAD + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = type
  bytes[4] = flags
  bytes.writeUInt32BE(stream, 5)
  bytes.set(payload, HEAD)
  return bytes
}

/** An uncompressed HPACK string. */
function text (value: string): Buffer {
  const bytes = Buffer.from(value)
  const rest = bytes.length - 127
  const length = rest < 0 ? [bytes.length] : rest < 128 ? [127, rest] : [127, 128 | rest & 127, rest >> 7]
  return Buffer.concat([Buffer.from(length), bytes])
}

/** The method, `:scheme: https`, then the path, which does not enter the table. */
const request = (method: number, path: string): Buffer => Buffer.concat([Buffer.of(method, 0x87, 0x04), text(path)])
const GET = 0x82
const POST = 0x83
/** Authority, authorization and accept, which enter the server's table; after that they are a byte each. */
const introduced = Buffer.concat([
  Buffer.of(0x41), text('bench'), Buffer.of(0x57), text(`Bearer ${TOKEN}`), Buffer.of(0x53), text('application/json')
])
const remembered = Buffer.of(0xc0, 0xbf, 0xbe)

export class Http2Connection {
  readonly #socket: TLSSocket
  readonly #streams = new Map<number, StreamListener>()
  readonly #head = Buffer.alloc(HEAD)
  #headBytes = 0
  /** Remaining bytes of the current frame. */
  #left = 0
  #control: Buffer[] = []
  #nextStream = 1
  #out: Buffer[] = []
  #received = 0

  private constructor (socket: TLSSocket) {
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => {
      this.#take(bytes)
      this.#flush()
    })
    socket.on('error', error => { this.#fail(error.message) })
    socket.on('close', () => { this.#fail('the connection was closed') })
    const settings = Buffer.alloc(12)
    settings.writeUInt16BE(2, 0) // disables push
    settings.writeUInt16BE(4, 6)
    settings.writeUInt32BE(LARGEST_WINDOW, 8)
    const window = Buffer.alloc(4)
    window.writeUInt32BE(LARGEST_WINDOW - FIRST_WINDOW, 0)
    socket.write(Buffer.concat([
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0, settings),
      frame(WINDOW_UPDATE, 0, 0, window)
    ]))
  }

  static async open (port: number): Promise<Http2Connection> {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    await once(socket, 'secureConnect')
    if (socket.alpnProtocol !== 'h2') throw new Error('the server does not speak HTTP/2')
    socket.setNoDelay(true)
    return new Http2Connection(socket)
  }

  /**
   * Sends a GET, or a POST if there is a body, which must be smaller than a frame, 16 KiB. Requests sent while bytes
   * are being received leave in one write.
   */
  send (path: string, listener: StreamListener, body?: Uint8Array): void {
    const stream = this.#nextStream
    const rest = stream === 1 ? introduced : remembered
    if (this.#out.length === 0) setImmediate(() => { this.#flush() })
    this.#nextStream += 2
    this.#streams.set(stream, listener)
    if (body === undefined) {
      this.#out.push(frame(HEADERS, END_STREAM | END_HEADERS, stream, Buffer.concat([request(GET, path), rest])))
    } else {
      this.#out.push(
        frame(HEADERS, END_HEADERS, stream, Buffer.concat([request(POST, path), rest])),
        frame(DATA, END_STREAM, stream, body)
      )
    }
  }

  close (): void {
    this.#streams.clear()
    this.#socket.destroy()
  }

  #flush (): void {
    if (this.#out.length === 0) return
    const out = this.#out
    this.#out = []
    if (!this.#socket.destroyed) {
      this.#socket.write(out.length === 1 && out[0] !== undefined ? out[0] : Buffer.concat(out))
    }
  }

  #fail (why: string): void {
    for (const { fail } of this.#streams.values()) fail(new Error(why))
  }

  #take (bytes: Buffer): void {
    let at = 0
    while (at < bytes.length || (this.#headBytes === HEAD && this.#left === 0)) {
      if (this.#headBytes < HEAD) {
        const copied = bytes.copy(this.#head, this.#headBytes, at, at + HEAD - this.#headBytes)
        this.#headBytes += copied
        at += copied
        if (this.#headBytes < HEAD) return
        this.#left = this.#head.readUIntBE(0, 3)
      }
      const end = Math.min(bytes.length, at + this.#left)
      const piece = bytes.subarray(at, end)
      this.#left -= piece.length
      at = end
      if (this.#head[3] === DATA) this.#data(piece)
      else if (piece.length > 0) this.#control.push(piece)
      if (this.#left > 0) return
      this.#headBytes = 0
      this.#framed()
    }
  }

  #data (piece: Buffer): void {
    this.#received += piece.length
    if (piece.length > 0) this.#streams.get(this.#head.readUInt32BE(5))?.data?.(piece)
    if (this.#received < 2 ** 29) return
    const more = Buffer.alloc(4)
    more.writeUInt32BE(this.#received, 0)
    this.#received = 0
    this.#out.push(frame(WINDOW_UPDATE, 0, 0, more))
  }

  /** Handles a complete frame. */
  #framed (): void {
    const type = this.#head[3]
    const flags = this.#head[4] ?? 0
    const stream = this.#head.readUInt32BE(5)
    const payload = Buffer.concat(this.#control)
    this.#control = []
    if (type === HEADERS && this.#streams.has(stream)) {
      if (payload[0] !== STATUS_200) this.#fail('an answer with a status other than 200')
      this.#streams.get(stream)?.head?.()
    } else if (type === SETTINGS && (flags & ACK) === 0) {
      this.#out.push(frame(SETTINGS, ACK, 0, Buffer.alloc(0)))
    } else if (type === PING && (flags & ACK) === 0) {
      this.#out.push(frame(PING, ACK, 0, payload))
    } else if (type === RESET || type === GOAWAY) {
      this.#fail(
        type === RESET
          ? `stream ${stream} was reset, code ${payload.readUInt32BE(0)}`
          : 'the server ends the connection'
      )
    }
    if ((type !== DATA && type !== HEADERS) || (flags & END_STREAM) === 0) return
    const listener = this.#streams.get(stream)
    this.#streams.delete(stream)
    listener?.end?.()
  }
}

/** Sends `count` GETs, with that many concurrent ones on each connection. */
export async function getsHttp2 (
  port: number, path: string, count: number, connections: number, streams: number
): Promise<void> {
  const open = await Promise.all(Array.from({ length: Math.min(connections, count) }, () => Http2Connection.open(port)))
  let left = count
  let answered = 0
  await new Promise<void>((resolve, reject) => {
    for (const connection of open) {
      const next = (): void => {
        if (left-- > 0) connection.send(path, listener)
      }
      const listener = {
        end: () => {
          if (++answered === count) resolve()
          else next()
        },
        fail: reject
      }
      for (let at = 0; at < streams; at++) next()
    }
  })
  for (const connection of open) connection.close()
}

/** Sequential GETs on one connection. Returns the bytes of their bodies, which are not checked. */
export async function listsHttp2 (port: number, path: string, count: number): Promise<number> {
  const connection = await Http2Connection.open(port)
  let bytes = 0
  for (let at = 0; at < count; at++) {
    await new Promise<void>((resolve, reject) => {
      connection.send(path, { data: piece => { bytes += piece.length }, end: resolve, fail: reject })
    })
  }
  connection.close()
  return bytes
}

const idle = new Map<number, Http2Connection[]>()

/** One POST on a connection that is kept for the next one. @throws Error for any status but 200 */
export async function callHttp2 (port: number, path: string, body: string): Promise<void> {
  const free = idle.get(port) ?? []
  idle.set(port, free)
  const connection = free.pop() ?? await Http2Connection.open(port)
  await new Promise<void>((resolve, reject) => {
    connection.send(path, { end: resolve, fail: reject }, Buffer.from(body))
  })
  free.push(connection)
}
