/** The limit over HTTP/2: core streams of `node:http2`. */
import { createSecureServer, constants, type ServerHttp2Stream } from 'node:http2'
import { announce, Audience, sendPieces, small, tls } from './bare.js'

const { HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH, HTTP2_HEADER_STATUS, HTTP2_HEADER_CONTENT_TYPE } = constants
const audience = new Audience()
const head = { [HTTP2_HEADER_STATUS]: 200, [HTTP2_HEADER_CONTENT_TYPE]: 'application/json' }

function answer (stream: ServerHttp2Stream, path: string): void {
  stream.respond(head)
  if (path === '/watch') {
    audience.watchers.add(stream)
    stream.on('close', () => { audience.watchers.delete(stream) })
  } else if (path === '/list') {
    stream.resume() // otherwise Node resets a stream whose request nobody reads, and drops unsent data
    void sendPieces(stream)
  } else {
    stream.end(small)
  }
}

const server = createSecureServer({ ...tls, settings: { maxConcurrentStreams: 250 } })
server.on('stream', (stream, headers) => {
  stream.on('error', () => {})
  const path = String(headers[HTTP2_HEADER_PATH])
  if (headers[HTTP2_HEADER_METHOD] === 'GET') return answer(stream, path)
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => { parts.push(part) })
  stream.on('end', () => {
    const event = Buffer.concat(parts)
    if (path === '/burst') audience.sendThisTurn(event)
    else audience.send(event)
    stream.respond(head)
    stream.end('{}')
  })
})
announce(server)
