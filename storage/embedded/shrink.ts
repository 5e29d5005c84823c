/**
 * Compacts the history and copies the rest to a new file, to return free space to the disk. No server may use the
 * store.
 */
import { statSync } from 'node:fs'
import path from 'node:path'
import { BATCH_BYTES, type Compacted } from '../transfer/stores.js'
import { StorageError } from '../errors.js'
import { inspect } from './inspection.js'
import { checkStore, openEmbedded, STORE_FILE } from './lmdb.js'
import { pageCounts, type Table } from './lmdb-medium.js'
import { lockDirectory } from './lock.js'
import { makePartial, publishPartial, removePartial } from './new-store.js'
import { DEFAULT_MIN_FREE, freeBytesOf, mebibytes } from './disk-space.js'

interface Copying {
  readonly directory: string
  /** Bytes of the disk that stay free. */
  readonly minFree: number
  /** Receives the number of records copied since the last call, and their bytes. */
  readonly onCopied: (records: number, bytes: number) => void
}

const OPEN_OPTIONS = {
  noSubdir: true, encoding: 'binary', keyEncoding: 'binary', overlappingSync: false, eventTurnBatching: false,
  mapSize: 1024 * 1024 * 1024
} as const

type Sizes = Pick<Compacted, 'before' | 'after'>

/**
 * Clients that have seen the newest revision can continue to watch from it; others get 410. The old file stays until
 * the new one has been read completely.
 * @throws StorageError
 */
export async function shrink (
  directory: string, minFree = DEFAULT_MIN_FREE, onCopied: Copying['onCopied'] = () => {}
): Promise<Sizes> {
  checkStore(directory)
  const engine = await openEmbedded(directory, { minFree })
  try {
    await engine.compact(await engine.revision())
  } finally {
    await engine.close()
  }
  const lock = await lockDirectory(directory)
  try {
    return await copied({ directory, minFree, onCopied })
  } finally {
    removePartial(directory)
    await lock.release()
  }
}

async function copied (copying: Copying): Promise<Sizes> {
  const { directory, minFree } = copying
  const file = path.join(directory, STORE_FILE)
  const before = statSync(file).size
  const { open } = await import('lmdb')
  const table: Table = open<Uint8Array, Uint8Array>({ ...OPEN_OPTIONS, path: file, readOnly: true })
  let copy: string
  try {
    const { size, free } = pageCounts(table)
    const needed = Math.max(0, before - free * size)
    if (freeBytesOf(directory) < needed + minFree) {
      throw new StorageError(
        'NoSpace',
        `the disk of the directory ${directory} is too full for a second copy: it takes ${mebibytes(needed)}, and ` +
          `--data-dir-min-free (${mebibytes(minFree)}) is to stay free`
      )
    }
    copy = makePartial(directory)
    await copyRecords(table, open<Uint8Array, Uint8Array>({ ...OPEN_OPTIONS, path: copy, noSync: true }), copying)
  } finally {
    await table.close()
  }
  const { problems: [problem] } = await inspect(copy)
  if (problem !== undefined) {
    throw new StorageError('Corrupt', `the copy of the store in ${directory} is not whole: ${problem}`)
  }
  const after = statSync(copy).size
  publishPartial(directory)
  return { before, after }
}

/**
 * Copies all records as they are. LMDB can copy files itself, but with headers that its own writes never have, which
 * `header.ts` refuses.
 */
async function copyRecords (from: Table, to: Table, { directory, minFree, onCopied }: Copying): Promise<void> {
  const transaction = from.useReadTransaction()
  try {
    let records: Array<{ key: Uint8Array, value: Uint8Array }> = []
    let bytes = 0
    const write = async (): Promise<void> => {
      const batch = records
      // lmdb cannot handle failed writes.
      if (freeBytesOf(directory) < minFree / 8 + 4 * bytes) {
        throw new StorageError('NoSpace', `the disk of the directory ${directory} became too full for the copy`)
      }
      await to.batch(() => { for (const { key, value } of batch) void to.put(key, value) })
      onCopied(batch.length, bytes)
      records = []
      bytes = 0
    }
    for (const { key, value } of from.getRange({ transaction })) {
      records.push({ key: Buffer.from(key), value })
      bytes += key.byteLength + value.byteLength
      if (bytes >= BATCH_BYTES) await write()
    }
    if (records.length > 0) await write()
  } finally {
    transaction.done()
    await to.close()
  }
}
