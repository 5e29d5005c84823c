/** An extension server with correct discovery that responds to everything else with raw bytes. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import type { Test } from '../../build.js'
import { ROOT, serverPair } from './extension-server.js'

/** @param answer called for each piece that a connection sends; @returns the port */
export async function rawServer (t: Test, answer: (socket: TLSSocket, piece: string) => void): Promise<number> {
  const sockets = new Set<TLSSocket>()
  const server = createServer({ cert: serverPair.certificate, key: serverPair.key }, socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => {
      const piece = bytes.toString('latin1')
      const probe = piece.startsWith(`GET ${ROOT} `) && piece.includes('X-Remote-User: system:orch-aggregator')
      if (probe) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}')
      else answer(socket, piece)
    })
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
