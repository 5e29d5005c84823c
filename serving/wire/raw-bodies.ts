/**
 * Writes HTTP/1.1 bodies directly to the socket, bypassing `ServerResponse`. Uses `chunkedEncoding`, an undocumented
 * field that controls the framing of `write` and `end`. No option for it in Node 26.
 * @see https://github.com/nodejs/node/blob/v26.x/lib/_http_outgoing.js, `chunkedEncoding`
 */
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** What a response says of its socket and its framing; a stream in its place has none of it. */
export type MaybeConnected = Partial<Pick<ServerResponse, 'chunkedEncoding' | 'socket' | 'setTimeout'>>

/** Queued and injected responses have no socket. */
const connected = ({ socket }: MaybeConnected): Socket | undefined => socket instanceof Socket ? socket : undefined

/**
 * Returns the socket for chunks that the caller frames, until `endRawChunks`. Undefined if the body is not chunked or
 * the response is queued. The head must have been sent.
 */
export function startRawChunks (response: MaybeConnected): Socket | undefined {
  const socket = response.chunkedEncoding === true ? connected(response) : undefined
  if (socket !== undefined) response.chunkedEncoding = false
  return socket
}

/** Must precede `end`, which writes the last chunk. */
export function endRawChunks (response: MaybeConnected): void { response.chunkedEncoding = true }

/** Returns the socket for a body of known length. Undefined as for `startRawChunks`. The head must have been sent. */
export function unframedSocket (response: MaybeConnected): Socket | undefined {
  return response.chunkedEncoding === false ? connected(response) : undefined // undefined over HTTP/2
}
