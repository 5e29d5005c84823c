/** Forgets the history of an etcd, which is that of all its programs, and gives the free space of each server's database back to its disk. */
import type { Compacted } from '../transfer/stores.js'
import { Connection, type ConnectionOptions } from './connection.js'

/** A server of the largest databases. */
const TIMEOUT_MS = 30 * 60_000

/** @param done called for each server, one after the other; a server answers nothing while it is defragmented @throws StorageError */
export async function defragment (options: ConnectionOptions & { readonly prefix: string }, done: (file: Compacted) => void): Promise<void> {
  const connection = new Connection(options)
  try {
    const { revision } = await connection.range({ key: Buffer.from(`${options.prefix}/`, 'latin1'), countOnly: true })
    await connection.compact(revision, true, TIMEOUT_MS)
    await connection.defragment(TIMEOUT_MS, done)
  } finally {
    connection.close()
  }
}
