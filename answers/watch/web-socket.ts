/**
 * Watches over WebSockets, as browsers open them: each event is a message, of text where the watch is JSON, of bytes
 * where it is protobuf.
 */
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { badRequest } from '../../schemas/status.js'
import { connectionOf } from '../../serving/wire/upgrades.js'
import { INVALID_HANDSHAKE, offeredProtocols, openingHeaders, WebSocketEnd } from '../../serving/wire/web-socket.js'
import type { Body } from '../body.js'
import type { ServedRequest } from '../request-context.js'
import { switchProtocols } from '../switch-protocols.js'
import { STALLED_MS } from './sink.js'

export interface WatchSocket {
  readonly connection: Socket
  /** Of the head that switches protocols. */
  readonly headers: readonly string[]
}

/**
 * The WebSocket that a watch asks for, with the first subprotocol that its client offers; undefined for a watch over
 * plain HTTP.
 * @throws StatusError 400 for an invalid handshake
 */
export function watchSocketOf ({ raw }: ServedRequest): WatchSocket | undefined {
  const connection = connectionOf(raw)
  const protocols = connection === undefined ? undefined : offeredProtocols(raw)
  if (connection === undefined || protocols === undefined) return undefined
  const headers = openingHeaders(raw, protocols[0])
  if (headers === undefined) throw badRequest(INVALID_HANDSHAKE)
  return { connection, headers }
}

/** Sends the events of a body until either end has enough. */
export function sendMessages (
  request: ServedRequest, reply: FastifyReply, body: Body,
  { connection, headers, isText }: WatchSocket & { readonly isText: boolean }
): void {
  if (!switchProtocols(request, reply, connection, { headers })) {
    body.destroy()
    return
  }
  const end = new WebSocketEnd(connection, { piece: () => {}, closed: () => { body.destroy() } })
  const messages = isText ? new Lines() : new Frames()
  body.on('error', () => {}) // it has been destroyed
  body.on('data', (chunk: Buffer) => {
    let flows = true
    for (const message of messages.take(chunk)) flows = (isText ? end.sendText(message) : end.send(message)) && flows
    if (flows) return
    body.pause()
    end.whenRead(STALLED_MS, () => { body.resume() })
  })
  body.once('end', () => { end.close() })
}

const NEWLINE = 10

/** Messages that end with a newline. */
class Lines {
  readonly #held: Buffer[] = []

  take (chunk: Buffer): Buffer[] {
    const messages: Buffer[] = []
    let from = 0
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      const rest = chunk.subarray(from, to + 1)
      messages.push(this.#held.length === 0 ? rest : Buffer.concat([...this.#held.splice(0), rest]))
      from = to + 1
    }
    if (from < chunk.length) this.#held.push(chunk.subarray(from))
    return messages
  }
}

const LENGTH_BYTES = 4

/** Messages behind their lengths. */
class Frames {
  #held: Buffer[] = []
  #size = 0
  /** Bytes up to the end of the next message, as far as they are known. */
  #needed = LENGTH_BYTES

  take (chunk: Buffer): Buffer[] {
    const messages: Buffer[] = []
    this.#held.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return messages
    let bytes = Buffer.concat(this.#held)
    this.#needed = LENGTH_BYTES
    while (bytes.length >= LENGTH_BYTES) {
      const whole = LENGTH_BYTES + bytes.readUInt32BE(0)
      if (bytes.length < whole) {
        this.#needed = whole
        break
      }
      messages.push(bytes.subarray(LENGTH_BYTES, whole))
      bytes = bytes.subarray(whole)
    }
    this.#held = [bytes]
    this.#size = bytes.length
    return messages
  }
}
