/**
 * Bodies of HTTP/1.1 written to the connection itself, past `ServerResponse`. Node has no API for it: here is all we use of
 * `chunkedEncoding`, an undocumented field that says whether `write` and `end` frame what they write (`lib/_http_outgoing.js`).
 * The test tells when a version of Node does it another way.
 */
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** A response has no socket while it waits behind another one on its connection, and none when it is injected. */
const connected = ({ socket }: ServerResponse): Socket | undefined => socket instanceof Socket ? socket : undefined

/**
 * Where the caller writes chunks that it frames itself, until `giveChunksBack`. Undefined where the body is not chunked or the response is not the
 * current one of its connection. The head must have been sent.
 */
export function takeChunks (response: ServerResponse): Socket | undefined {
  const socket = response.chunkedEncoding ? connected(response) : undefined
  if (socket !== undefined) response.chunkedEncoding = false
  return socket
}

/** Before `end`, which writes the last chunk. */
export function giveChunksBack (response: ServerResponse): void { response.chunkedEncoding = true }

/** Where a body of known length can be written. Undefined as for `takeChunks`. The head must have been sent. */
export function unframedSocket (response: ServerResponse): Socket | undefined {
  return response.chunkedEncoding === false ? connected(response) : undefined // HTTP/2 has no such field
}
