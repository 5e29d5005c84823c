/**
 * Intercepts HTTP/2 streams before Node's compatibility layer. A server created with a handler has one `stream`
 * listener that creates compatibility requests. Node has no option to choose for each stream, in Node 26 neither.
 * @see https://github.com/nodejs/node/blob/v26.x/lib/internal/http2/core.js, `setupCompat`
 */
import type { Http2SecureServer, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'

export type StreamListener =
  (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => void

/**
 * Replaces the compatibility listener of a server created with a handler.
 * @returns passes a stream to the compatibility layer
 * @throws Error if this Node version attaches its handler differently
 */
export function takeStreams (server: Http2SecureServer, take: StreamListener): StreamListener {
  const [compatible] = server.listeners('stream') as Array<StreamListener | undefined>
  if (compatible === undefined) throw new Error('the HTTP/2 server of this Node takes its handler another way')
  server.removeListener('stream', compatible)
  server.on('stream', take)
  return compatible.bind(server)
}
