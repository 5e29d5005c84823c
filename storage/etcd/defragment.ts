/**
 * Compacts the history of an etcd, which all its clients share, and returns the free space of each server's database to
 * its disk.
 */
import type { Compacted } from '../transfer/stores.js'
import { Connection, type ConnectionOptions } from './connection.js'

/** Long enough for the largest databases. */
const TIMEOUT_MS = 30 * 60_000

/**
 * @param done called for each server, one after the other; a server answers nothing while it is defragmented
 * @throws StorageError
 */
export async function defragment (
  options: ConnectionOptions & { readonly prefix: string }, done: (file: Compacted) => void
): Promise<void> {
  const connection = new Connection(options)
  try {
    const { revision } = await connection.range({ key: Buffer.from(`${options.prefix}/`, 'latin1'), countOnly: true })
    await connection.compact(revision, true, TIMEOUT_MS)
    await connection.defragment(TIMEOUT_MS, done)
  } finally {
    connection.close()
  }
}
