/** The listener alone, with a handler of the test, and low-level clients. */
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { answerBadRequest } from '../../serving/client-errors.js'
import { createListener, type Listener, type ListenerOptions } from '../../serving/listener.js'
import type { Test } from '../plugins/bare-server.js'
import { authority } from './authority.js'
import { polled } from '../polled.js'

const pair = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })

export interface Bare {
  readonly listener: Listener
  readonly port: number
  /** Responses to requests for /held, in order; none of them has begun. */
  readonly held: ServerResponse[]
  /** URLs of all requests that reached the handler. */
  readonly seen: string[]
  /** Number of connections that the server holds, including those before TLS. */
  readonly connections: () => Promise<number>
}

/** Responds with the body of the request, or with its version and method if there is none. */
export async function listening (
  test: Test, options: Partial<ListenerOptions> = {}, handler?: RequestListener
): Promise<Bare> {
  const held: ServerResponse[] = []
  const seen: string[] = []
  const listener = createListener((request: IncomingMessage, response: ServerResponse) => {
    seen.push(request.url ?? '')
    if (handler !== undefined) return handler(request, response as ServerResponse & { req: IncomingMessage })
    if (request.url === '/held') {
      held.push(response)
      return
    }
    let body = ''
    request.on('data', (piece: Buffer) => { body += String(piece) })
    request.on('end', () => response.end(body === '' ? `${request.httpVersion} ${request.method}` : body))
  }, { tls: { cert: pair.certificate, key: pair.key }, maxStreams: 0, requestTimeout: 60_000, ...options })
  const emitter: NodeJS.EventEmitter = listener.server
  emitter.on('clientError', answerBadRequest) // as Fastify does it
  await new Promise<void>(resolve => { listener.server.listen(0, '127.0.0.1', resolve) })
  test.teardown(() => {
    listener.stop()
    listener.destroy()
  })
  const { port } = listener.server.address() as AddressInfo
  const connections = (): Promise<number> => new Promise((resolve, reject) => {
    listener.server.getConnections((error, count) => { if (error === null) resolve(count); else reject(error) })
  })
  return { listener, port, held, seen, connections }
}

/** Opens a connection, HTTP/1.1 unless the options say otherwise, and writes the text. */
export async function raw (
  test: Test, port: number, text: string | Buffer, options: ConnectionOptions & { allowHalfOpen?: boolean } = {}
): Promise<TLSSocket> {
  const socket = connectTls({
    port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...options
  })
  socket.on('error', () => {})
  test.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  if (text !== '') socket.write(text)
  return socket
}

export async function readAll (stream: AsyncIterable<unknown>): Promise<string> {
  let text = ''
  for await (const piece of stream) text += String(piece)
  return text
}

/** Polls until the condition holds. @throws Error that names the condition */
export async function until (
  what: string, done: () => boolean | Promise<boolean>, milliseconds = 60_000
): Promise<void> {
  await polled(done, what, milliseconds)
}

/** An HTTP/2 frame. */
export function frame (type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** An HTTP/2 header field, encoded without validation, which libraries would not do. */
export function field (name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.of(0, name.length), Buffer.from(name, 'latin1'), Buffer.of(value.length), Buffer.from(value, 'latin1')
  ])
}

export const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, Buffer.alloc(0))])

/** The frame that opens a stream for a GET, with additional fields. */
export function getHttp2 (stream: number, path: string, ...fields: Buffer[]): Buffer {
  return frame(1, 5, stream, Buffer.concat([
    field(':method', 'GET'), field(':scheme', 'https'), field(':authority', 'x'), field(':path', path), ...fields
  ]))
}
