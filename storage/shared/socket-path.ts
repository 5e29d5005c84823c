/** Path of the Unix socket on which the process of the store listens. */
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'

const NAME = 'store.sock'

export interface SocketPath {
  readonly path: string
  /** Call it once the socket listens or is connected. */
  readonly close: () => void
}

/**
 * Paths of sockets are limited to about a hundred bytes; through the open directory they are always short.
 * @throws Error of the file system
 */
export function socketIn (directory: string): SocketPath {
  if (process.platform !== 'linux') return { path: join(directory, NAME), close: () => {} }
  const folder = openSync(directory, 'r')
  return { path: `/proc/self/fd/${folder}/${NAME}`, close: () => { closeSync(folder) } }
}
