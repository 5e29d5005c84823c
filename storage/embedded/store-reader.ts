/**
 * The newest state of an embedded store, read by another process than its server. LMDB's read transactions see one
 * state across processes and hold up no writer, but the file keeps all pages of that state while one is open, so it
 * grows by what is written meanwhile.
 */
import { statSync } from 'node:fs'
import path from 'node:path'
import type { RangeOptions } from 'lmdb'
import { BATCH_BYTES, bytesOf, type StoreReader, type Lease, type StoredObject } from '../transfer/stores.js'
import { isStorageError, StorageError } from '../errors.js'
import { checkStore, faultOfFormat, STORE_FILE } from './lmdb.js'
import type { Table } from './lmdb-medium.js'
import { type DirectoryLock, lockDirectory } from './lock.js'
import { Yielder } from './yielder.js'
import { walkPages } from './pages.js'
import {
  CHECKED, leaseIdOf, LEASES_START, metaKey, parseLease, parseTotals, parseVersionKey, TOTALS_KEY, unseal, VERSIONS_END,
  VERSIONS_START
} from './record.js'

/** While the store is read, its file may grow by half or by this many bytes, whichever is more. */
const MIN_GROWTH = 1024 * 1024 * 1024
const CHECK_MS = 500

/**
 * @param exclusive whether to refuse a store with a server, and to keep servers away until the reader is closed
 * @throws StorageError 'Unavailable', 'Corrupt'
 */
export async function embeddedReader (
  directory: string, exclusive: boolean, minGrowth = MIN_GROWTH
): Promise<StoreReader> {
  const file = path.join(directory, STORE_FILE)
  checkStore(directory)
  const lock = await locked(directory, exclusive)
  let table: Table | undefined
  try {
    // The pages of a store that is in use were checked when its server started.
    if (lock !== undefined) await checkPages(file, directory)
    const { open } = await import('lmdb')
    table = open<Uint8Array, Uint8Array>({
      path: file, noSubdir: true, encoding: 'binary', keyEncoding: 'binary', readOnly: true, mapSize: 1024 * 1024 * 1024
    })
    const reader = new Reader(table, file, directory, minGrowth)
    if (!exclusive) await lock?.release() // a server may start now
    return reader.storeReader(async () => {
      await table?.close()
      if (exclusive) await lock?.release()
    })
  } catch (error) {
    await table?.close()
    await lock?.release()
    throw error instanceof StorageError
      ? error
      : new StorageError(
          'Unavailable',
        `the store in ${directory} can not be read: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error }
        )
  }
}

/** Undefined if a server holds the lock. */
async function locked (directory: string, exclusive: boolean): Promise<DirectoryLock | undefined> {
  try {
    return await lockDirectory(directory)
  } catch (error) {
    if (!exclusive && isStorageError(error)) return undefined
    throw error
  }
}

async function checkPages (file: string, directory: string): Promise<void> {
  let problem: string | undefined
  await walkPages(file, {
    problem: text => { problem ??= text }, enough: () => problem !== undefined,
    valuePage: (_offset, _header, key) => {
      problem ??= `a page of the value of ${key.toString('latin1', 19)} is damaged`
    }
  })
  if (problem !== undefined) {
    throw new StorageError(
      'Corrupt',
      `the store in ${directory} is damaged: ${problem} (orch-apiserver fsck --data-dir=${directory} names all that ` +
        'is damaged)'
    )
  }
}

class Reader {
  readonly #table: Table
  readonly #file: string
  readonly #transaction: NonNullable<RangeOptions['transaction']>
  readonly #sizeAtStart: number
  readonly #minGrowth: number
  /** Checks on a timer, because the consumer of the objects may be slow. */
  readonly #growthCheck: NodeJS.Timeout
  #failure: StorageError | undefined
  #released = false
  /** The newest revision of each key that exists. */
  readonly #newest = new Map<string, number>()
  readonly #leases = new Map<number, Lease>()
  readonly #revision: number
  readonly #takenAt = Date.now()

  constructor (table: Table, file: string, directory: string, minGrowth: number) {
    this.#table = table
    this.#file = file
    this.#minGrowth = minGrowth
    this.#sizeAtStart = statSync(file).size
    this.#growthCheck = setInterval(() => { this.#checkGrowth() }, CHECK_MS).unref()
    const transaction = table.useReadTransaction()
    this.#transaction = transaction
    const meta = new Map<string, string>()
    for (const { key, value } of table.getRange({ end: LEASES_START, transaction })) {
      meta.set(Buffer.from(key).toString('latin1'), Buffer.from(value).toString('latin1'))
    }
    for (const { key, value } of table.getRange({ start: LEASES_START, end: VERSIONS_START, transaction })) {
      this.#leases.set(leaseIdOf(key), parseLease(value))
    }
    const text = (name: 'format' | 'compacted'): string | undefined =>
      meta.get(Buffer.from(metaKey(name)).toString('latin1'))
    const fault = faultOfFormat(text('format'), directory)
    if (fault !== undefined) throw fault
    let revision = Math.max(1, Number(text('compacted') ?? 0))
    for (const { value } of table.getRange({ start: TOTALS_KEY, transaction })) {
      revision = Math.max(revision, parseTotals(value)?.revision ?? NaN)
    }
    if (!Number.isSafeInteger(revision)) throw new RangeError('its revision can not be read')
    for (const bytes of table.getKeys({ start: VERSIONS_START, end: VERSIONS_END, transaction })) {
      const version = parseVersionKey(bytes)
      revision = Math.max(revision, version.revision)
      if (version.created === 0) this.#newest.delete(version.key)
      else this.#newest.set(version.key, version.revision)
    }
    this.#revision = revision
  }

  storeReader (closeTable: () => Promise<void>): StoreReader {
    let closed = false
    return {
      source: 'embedded',
      revision: this.#revision,
      takenAt: this.#takenAt,
      prefix: undefined,
      count: this.#newest.size,
      objects: () => this.#objects(),
      unchanged: async () => {}, // the folder is locked, or changes are allowed
      close: async () => {
        if (closed) return
        closed = true
        this.#release()
        await closeTable()
      }
    }
  }

  async * #objects (): AsyncGenerator<readonly StoredObject[]> {
    let batch: StoredObject[] = []
    let bytes = 0
    const yielder = new Yielder()
    for (const { key: recordKey, value: stored } of this.#table
      .getRange({ start: VERSIONS_START, end: VERSIONS_END, transaction: this.#transaction })) {
      if (yielder.isDue()) {
        await yielder.yield() // lets signals be handled
        if (this.#failure !== undefined) throw this.#failure
      }
      const { key, revision, created, lease, kind } = parseVersionKey(recordKey)
      if (this.#newest.get(key) !== revision) continue
      const value = kind !== CHECKED ? stored : unseal(recordKey, stored)
      if (value === undefined) {
        throw new StorageError(
          'Corrupt',
          `the value of ${key} at revision ${revision} is damaged: delete the object through the server, or restore ` +
            'an older backup',
          { key }
        )
      }
      const object = { key, value, createRevision: created, modRevision: revision, lease: this.#leases.get(lease) }
      batch.push(object)
      bytes += bytesOf(object)
      if (bytes < BATCH_BYTES) continue
      yield batch
      if (this.#failure !== undefined) throw this.#failure
      batch = []
      bytes = 0
    }
    if (batch.length > 0) yield batch
  }

  #checkGrowth (): void {
    const growth = statSync(this.#file).size - this.#sizeAtStart
    if (growth <= Math.max(this.#minGrowth, this.#sizeAtStart / 2)) return
    this.#failure = new StorageError(
      'Unavailable',
      `the store grew by ${Math.round(growth / 1024 / 1024)} MiB while it was read, because it keeps the state that ` +
        'is read: write to a faster disk, or at a quieter time'
    )
    this.#release()
  }

  /** Lets the server use the pages of the state again. */
  #release (): void {
    clearInterval(this.#growthCheck)
    if (this.#released) return
    this.#released = true
    this.#transaction.done()
    this.#table.resetReadTxn()
  }
}
