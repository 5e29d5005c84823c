/**
 * A Unix domain socket that leads through a tunnel to one server, for clients that cannot be given a connection. Only
 * this user may enter its folder.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAX_SOCKET_PATH } from '../../schemas/limits.js'
import type { Tunnel, TunnelTarget } from './tunnel.js'

export interface Relay {
  /** The socket. */
  readonly path: string
  /** Ends all connections. */
  readonly close: () => void
}

const PREFIX = 'orch-egress-'
const SOCKET = 'socket'

/** @param failed called for each connection that fails */
export async function openRelay (tunnel: Tunnel, target: TunnelTarget, failed: (error: Error) => void): Promise<Relay> {
  const folder = mkdtempSync(join(tmpdir(), PREFIX))
  chmodSync(folder, 0o700)
  const path = join(folder, SOCKET)
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error(
      `the temporary folder ${tmpdir()} has too long a path for a socket in it; set TMPDIR to a shorter one`
    )
  }
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
  await removeDead().catch(() => {}) // a leftover folder is harmless
  return {
    path,
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/**
 * Removes the folders of killed processes: nobody listens at their sockets. A folder without a socket is one that
 * another process is setting up.
 */
async function removeDead (): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const folder = join(tmpdir(), name)
    if (name.startsWith(PREFIX) && await isRefused(join(folder, SOCKET))) {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

const isRefused = (path: string): Promise<boolean> => new Promise(resolve => {
  const socket = connect(path, () => {
    socket.destroy()
    resolve(false)
  })
  socket.once('error', (error: NodeJS.ErrnoException) => { resolve(error.code === 'ECONNREFUSED') })
})
