/**
 * The server's end of a WebSocket (RFC 6455) on an upgraded connection, without extensions. Messages are passed in
 * pieces as they arrive, so that their size needs no limit.
 */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { HeldSource } from './held-source.js'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** The value of Sec-WebSocket-Accept. */
const acceptOf = (key: string): string => createHash('sha1').update(key + GUID).digest('base64')

const VERSION = '13'
const KEY = /^[A-Za-z0-9+/]{22}==$/

/**
 * The headers of the answer that opens a WebSocket; undefined for an invalid handshake.
 * @param protocol the subprotocol that is chosen, if any was offered
 */
export function openingHeaders (
  { method, headers }: IncomingMessage, protocol: string | undefined
): readonly string[] | undefined {
  const key = headers['sec-websocket-key'] ?? ''
  if (method !== 'GET' || headers['sec-websocket-version'] !== VERSION || !KEY.test(key)) return undefined
  return [
    'Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Accept', acceptOf(key),
    ...(protocol === undefined ? [] : ['Sec-WebSocket-Protocol', protocol])
  ]
}

export const INVALID_HANDSHAKE = 'a WebSocket of version 13 needs a GET with a Sec-WebSocket-Key of 16 bytes'

export const asksForWebSocket = ({ upgrade }: IncomingHttpHeaders): boolean => upgrade?.toLowerCase() === 'websocket'

/** The subprotocols that a request for a WebSocket offers; undefined for other requests. */
export const offeredProtocols = ({ headers }: IncomingMessage): string[] | undefined =>
  asksForWebSocket(headers)
    ? (headers['sec-websocket-protocol'] ?? '').split(',').map(protocol => protocol.trim())
        .filter(protocol => protocol !== '')
    : undefined

const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10]
/** The bit that marks a control frame. */
const CONTROL = 8
const MAX_CONTROL_LENGTH = 125
const [IN_16_BITS, IN_64_BITS] = [126, 127]
const [NORMAL, PROTOCOL_ERROR] = [1000, 1002]

/** Codes that a closing frame may carry. */
const isCloseCode = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && (code < 1004 || code > 1006)) || (code >= 3000 && code < 5000)

/** Milliseconds for the client to end the connection after the closing frame. */
const LINGER = 10_000

const NONE = Buffer.alloc(0)

export interface Heard {
  /** A piece of a message, never empty; `begins` is true for the first of each. */
  readonly piece: (bytes: Buffer, begins: boolean) => void
  /** The client has closed, or is gone. Once. */
  readonly closed: () => void
}

interface Frame {
  readonly code: number
  readonly headLength: number
  readonly length: number
  /** The last of its message. */
  readonly last: boolean
}

/** The frame at the start, undefined while its head is incomplete. @throws Error if it may not be */
function frameOf (bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined
  const [first = 0, second = 0] = bytes
  const code = first & 0x0f
  const short = second & 0x7f
  // Clients mask, no extension is in use, and control frames are short and whole.
  const isKnown = code <= BINARY || (code >= CLOSE && code <= PONG)
  const controlled = code < CONTROL || (first >= 0x80 && short <= MAX_CONTROL_LENGTH)
  if ((first & 0x70) !== 0 || second < 0x80 || !isKnown || !controlled) throw new Error('invalid frame')
  const lengthBytes = short === IN_64_BITS ? 8 : short === IN_16_BITS ? 2 : 0
  const headLength = 2 + lengthBytes + 4
  if (bytes.length < headLength) return undefined
  const length = lengthBytes === 0
    ? short
    : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (length >= 2 ** 63) throw new Error('invalid length')
  return { code, headLength, length, last: first >= 0x80 }
}

export class WebSocketEnd {
  readonly source: HeldSource
  readonly #socket: Socket
  readonly #heard: Heard
  #held: Buffer = NONE
  /** Bytes of the frame that are yet to come. */
  #left = 0
  #mask: Buffer = NONE
  #masked = 0
  #begins = true
  /** Within a message of several frames. */
  #continues = false
  #isClosing = false
  #isGone = false

  constructor (socket: Socket, heard: Heard) {
    this.#socket = socket
    this.#heard = heard
    this.source = new HeldSource(socket)
    socket.on('data', (chunk: Buffer) => {
      try {
        this.#read(chunk)
      } catch {
        this.close(PROTOCOL_ERROR)
        this.#gone()
      }
    })
    socket.once('end', () => {
      this.#gone()
      this.close()
    })
    socket.once('close', () => { this.#gone() })
  }

  #gone (): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#heard.closed()
  }

  #read (chunk: Buffer): void {
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = NONE
    while (rest.length > 0 && !this.#isGone) {
      if (this.#left > 0) {
        const piece = rest.subarray(0, this.#left)
        rest = rest.subarray(piece.length)
        this.#left -= piece.length
        this.#unmask(piece)
        const begins = this.#begins
        this.#begins = false
        this.#heard.piece(piece, begins)
        continue
      }
      const frame = frameOf(rest)
      if (frame === undefined || (frame.code >= CONTROL && rest.length < frame.headLength + frame.length)) {
        this.#held = rest
        return
      }
      this.#mask = rest.subarray(frame.headLength - 4, frame.headLength)
      this.#masked = 0
      rest = rest.subarray(frame.headLength)
      if (frame.code < CONTROL) {
        if (this.#continues !== (frame.code === CONTINUATION)) throw new Error('a frame of another message')
        this.#continues = !frame.last
        this.#left = frame.length
        this.#begins ||= frame.code !== CONTINUATION
      } else {
        this.#control(frame.code, rest.subarray(0, frame.length))
        rest = rest.subarray(frame.length)
      }
    }
  }

  /** In place: the bytes are the connection's, and nobody else reads them. */
  #unmask (piece: Buffer): void {
    const mask = this.#mask
    let at = this.#masked
    for (let index = 0; index < piece.length; index++) {
      piece[index] = (piece[index] as number) ^ (mask[at & 3] as number) // within bounds
      at++
    }
    this.#masked = at & 3
  }

  #control (code: number, payload: Buffer): void {
    this.#unmask(payload)
    // Who does not read the answers is not read either: they would pile up.
    if (code === PING && !this.#frame(PONG, payload)) this.source.holdFor(this.#socket)
    if (code !== CLOSE) return
    if (payload.length === 1) throw new Error('half a code')
    const closed = payload.length === 0 ? NORMAL : payload.readUInt16BE(0)
    this.close(isCloseCode(closed) ? closed : PROTOCOL_ERROR)
    this.#gone()
  }

  /**
   * Sends a message.
   * @param first its first byte, in front of the others
   * @returns false if the client should read before more is sent, which `drain` of the connection tells
   */
  send (bytes: Buffer, first?: number): boolean {
    return this.#isClosing || this.#frame(BINARY, bytes, first)
  }

  /** Sends a message of text, likewise. */
  sendText (bytes: Buffer): boolean {
    return this.#isClosing || this.#frame(TEXT, bytes)
  }

  /**
   * For a client that should read before more is sent: calls `then` when it has. What it sends meanwhile is not read,
   * so that it is no sign of life; without one for `stalled` milliseconds the connection is destroyed.
   */
  whenRead (stalled: number, then: () => void): void {
    const socket = this.#socket
    this.source.holdFor(socket)
    const end = (): void => { socket.destroy() }
    socket.setTimeout(stalled, end)
    socket.once('drain', () => {
      socket.setTimeout(0, end)
      then()
    })
  }

  #frame (code: number, payload: Buffer, first?: number): boolean {
    if (!this.#socket.writable) return true
    const length = payload.length + (first === undefined ? 0 : 1)
    const long = length > 0xffff ? 8 : length > MAX_CONTROL_LENGTH ? 2 : 0
    const head = Buffer.allocUnsafe(2 + long + (first === undefined ? 0 : 1))
    head[0] = 0x80 | code
    head[1] = long === 8 ? IN_64_BITS : long === 2 ? IN_16_BITS : length
    if (long === 8) head.writeBigUInt64BE(BigInt(length), 2)
    else if (long === 2) head.writeUInt16BE(length, 2)
    if (first !== undefined) head[2 + long] = first
    this.#socket.cork()
    const flows = this.#socket.write(head)
    const flowed = payload.length === 0 ? flows : this.#socket.write(payload)
    this.#socket.uncork()
    return flowed
  }

  /** Sends the closing frame, after all messages, and ends the connection. */
  close (code = NORMAL): void {
    if (this.#isClosing) return
    const reason = Buffer.alloc(2)
    reason.writeUInt16BE(code)
    this.#frame(CLOSE, reason)
    this.#isClosing = true
    this.#socket.end()
    const late = setTimeout(() => { this.#socket.destroy() }, LINGER)
    this.#socket.once('close', () => { clearTimeout(late) })
  }
}
