import { once } from 'node:events'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { frame, getHttp2, PREFACE } from './serving/bare-listener.js'

/**
 * An HTTP/2 client that breaks the protocol with a body after the end of a request. Node then reports nothing more
 * about the connection.
 */
export async function ruleBreaker (
  test: { teardown: (then: () => unknown) => void }, port: number, path: string
): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  socket.on('error', () => {})
  socket.resume()
  test.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  socket.write(Buffer.concat([PREFACE, getHttp2(1, path), frame(0, 0, 1, Buffer.from('x'))]))
  return socket
}
