import { once } from 'node:events'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { frame, getHttp2, PREFACE } from './serving/bare-listener.js'

/** A client of HTTP/2 that breaks its rules with a body behind the end of a request, after which Node says nothing of the connection. */
export async function ruleBreaker (test: { teardown: (then: () => unknown) => void }, port: number, path: string): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  socket.on('error', () => {})
  socket.resume()
  test.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  socket.write(Buffer.concat([PREFACE, getHttp2(1, path), frame(0, 0, 1, Buffer.from('x'))]))
  return socket
}
