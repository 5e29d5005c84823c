/**
 * Streams of HTTP/2 before Node's compatibility layer has them. A server made with a handler adds one listener of `stream`
 * that makes compatible requests of all (`setupCompat` in `lib/internal/http2/core.js`). Node has no option to choose by stream.
 */
import type { Http2SecureServer, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'

export type StreamListener = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => void

/**
 * Takes the streams over from Node, of a server that was made with a handler.
 * @returns hands a stream to the compatibility layer after all
 * @throws Error where the server of this Node takes its handler another way
 */
export function takeStreams (server: Http2SecureServer, take: StreamListener): StreamListener {
  const [compatible] = server.listeners('stream') as Array<StreamListener | undefined>
  if (compatible === undefined) throw new Error('the HTTP/2 server of this Node takes its handler another way')
  server.removeListener('stream', compatible)
  server.on('stream', take)
  return compatible.bind(server)
}
