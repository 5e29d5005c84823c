/**
 * Requests of HTTP/2 that are answered before their body has ended: a refusal, or a body that is too slow. Node closes
 * such a stream by itself only when nothing of the body was ever read; another one stays until its connection goes, which
 * is up to its client, and holds what its request holds. Here the rest of a body is read into nothing for a moment after
 * the whole answer has left; then the stream is reset without an error, which asks the client to send no more (RFC 9113,
 * 8.1). Not at once: a client of Node that is in the midst of its body takes such a reset for no end at all. What has not closed
 * as long again is destroyed.
 */
import type { ServerResponse } from 'node:http'
import { Http2ServerResponse, constants, type ServerHttp2Stream } from 'node:http2'

/** Milliseconds for the rest of a body. */
const LINGER = 3000

/** A request that ended with its headers has no body, and one over HTTP/1 ends with its connection: these cost nothing. */
export function endWithAnswer (response: ServerResponse): void {
  const raw: unknown = response
  if (!(raw instanceof Http2ServerResponse)) return
  const { stream } = raw
  if (!stream.endAfterHeaders) stream.once('finish', end) // its answer's own `finish` comes when the stream has closed
}

function end (this: ServerHttp2Stream): void {
  if (this.readableEnded) return
  this.resume()
  if (this.closed) return
  const timers = [
    setTimeout(() => {
      this.close(constants.NGHTTP2_NO_ERROR)
      this.resume() // it closes when what has come is read
    }, LINGER),
    // Of a connection that its client cut off in the midst of the body Node may read no more, and never learn that it has gone.
    setTimeout(() => { this.destroy() }, 2 * LINGER)
  ]
  for (const timer of timers) timer.unref()
  this.once('close', () => { timers.forEach(clearTimeout) })
}
