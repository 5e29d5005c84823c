/**
 * Closes HTTP/2 streams that are answered before their body ends. Node closes them only if it never read any of the
 * body; others stay open as long as the connection. After the response the rest of the body is discarded for a while,
 * then the stream is reset with NO_ERROR, which asks the client to stop sending (RFC 9113, 8.1). Not immediately: a
 * Node client that is still sending does not take such a reset for the end. A stream still open after the same time
 * again is destroyed.
 */
import type { ServerResponse } from 'node:http'
import { Http2ServerResponse, constants, type ServerHttp2Stream } from 'node:http2'

/** Milliseconds during which the rest of a body is discarded. */
const LINGER = 3000

/** Free for requests without a body, and for HTTP/1, whose connection ends instead. */
export function resetAfterResponse (response: ServerResponse): void {
  const raw: unknown = response
  if (!(raw instanceof Http2ServerResponse)) return
  const { stream } = raw
  if (!stream.endAfterHeaders) stream.once('finish', end) // the response emits `finish` only once the stream has closed
}

function end (this: ServerHttp2Stream): void {
  if (this.readableEnded) return
  this.resume()
  if (this.closed) return
  const timers = [
    setTimeout(() => {
      this.close(constants.NGHTTP2_NO_ERROR)
      this.resume() // it closes when buffered data has been read
    }, LINGER),
    // Node may stop reading a connection that was cut mid-body and never notice its end.
    setTimeout(() => { this.destroy() }, 2 * LINGER)
  ]
  for (const timer of timers) timer.unref()
  this.once('close', () => { timers.forEach(clearTimeout) })
}
