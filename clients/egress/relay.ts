/**
 * A Unix domain socket, in a folder that only this user may enter, that leads through a tunnel to one server: for clients that cannot be
 * given a connection.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tunnel, TunnelTarget } from './tunnel.js'

export interface Relay {
  /** The socket. */
  readonly path: string
  /** Ends all connections. */
  readonly close: () => void
}

/** @param failed called for each connection that could not be made */
export async function openRelay (tunnel: Tunnel, target: TunnelTarget, failed: (error: Error) => void): Promise<Relay> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-egress-'))
  chmodSync(folder, 0o700)
  const path = join(folder, 'socket')
  const open = new Set<Socket>()
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, socket => {
    open.add(socket)
    socket.once('close', () => { open.delete(socket) })
    socket.on('error', () => {}) // 'close' follows
    tunnel(target).then(peer => {
      peer.on('error', () => { socket.destroy() })
      peer.once('close', () => { socket.destroy() })
      socket.once('close', () => { peer.destroy() })
      if (socket.destroyed) peer.destroy()
      else {
        socket.pipe(peer)
        peer.pipe(socket)
      }
    }, (error: Error) => {
      socket.destroy()
      failed(error)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  return {
    path,
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
