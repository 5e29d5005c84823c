/**
 * Writes a whole store: `data.mdb.partial` is synced and renamed to `data.mdb` at the end. If a folder has only the
 * first file, a restore was interrupted, and no server starts there.
 */
import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Revision } from '../backend.js'
import {
  firstRevision, expiresSoon, type StoreReader, type Lease, type StoredObject, type StoreWriter
} from '../transfer/stores.js'
import { isStorageError, StorageError } from '../errors.js'
import { makeFolder, sync } from '../../files/folders.js'
import { Entry, Version } from './history.js'
import { PARTIAL_FILE, STORE_FILE } from './lmdb.js'
import { LmdbMedium, type OpenedTable } from './lmdb-medium.js'
import { lockDirectory, type DirectoryLock } from './lock.js'
import type { Change } from './medium.js'
import { FORMAT, metaKey } from './record.js'

/** Larger revisions do not fit in a record's key. */
const MAX_REVISION = 2 ** 48 - 1

export interface NewStoreOptions {
  /** Bytes of the disk that stay free; 64 MiB by default. */
  readonly minFree?: number | undefined
}

/**
 * Begins a store in a folder that holds none. Creates the folder if missing, with mode 0700.
 * @throws StorageError 'Unavailable'
 */
export async function newEmbeddedStore (
  directory: string, reader: StoreReader, options: NewStoreOptions
): Promise<StoreWriter> {
  const revision = firstRevision(reader)
  if (revision >= MAX_REVISION) {
    throw new StorageError('Unavailable', `revision ${reader.revision} is too large for an embedded store`)
  }
  makeFolder(directory, 0o700)
  const lock = await lockDirectory(directory)
  try {
    if (existsSync(path.join(directory, STORE_FILE))) {
      throw new StorageError(
        'Unavailable', `the directory ${directory} holds a store already: name another one, or move ${STORE_FILE} away`
      )
    }
    const file = makePartial(directory)
    const { open } = await import('lmdb')
    // Synced once, at the end.
    const table = open<Uint8Array, Uint8Array>({
      path: file, noSubdir: true, encoding: 'binary', keyEncoding: 'binary', noSync: true, overlappingSync: false,
      eventTurnBatching: false, mapSize: 1024 * 1024 * 1024
    })
    await table.put(metaKey('format'), Buffer.from(FORMAT, 'latin1'))
    return new NewStore(directory, { table, file, lock }, revision, options)
  } catch (error) {
    removePartial(directory)
    await lock.release()
    throw error
  }
}

class NewStore implements StoreWriter {
  readonly #directory: string
  readonly #medium: LmdbMedium
  readonly #lock: DirectoryLock
  readonly #revisions = new Set<Revision>()
  readonly #leases = new Map<Lease, number>()
  #lastLease = Date.now()
  #last: Revision
  #closed = false

  constructor (directory: string, opened: OpenedTable, revision: Revision, { minFree }: NewStoreOptions) {
    this.#directory = directory
    const kept: DirectoryLock = { ...opened.lock, release: async () => {} } // this store releases it, not its medium
    this.#medium = new LmdbMedium({ ...opened, lock: kept }, false, minFree === undefined ? {} : { minFree })
    this.#lock = opened.lock
    this.#last = revision
  }

  async put (objects: readonly StoredObject[]): Promise<void> {
    const now = Date.now()
    const changes: Change[] = []
    for (const { key, value, createRevision, modRevision, lease } of objects) {
      if (expiresSoon(lease, now)) continue
      const revision = this.#free(modRevision)
      const leaseId = lease === undefined ? 0 : this.#lease(lease, changes)
      const version = new Version(new Entry(key), revision, createRevision, leaseId)
      version.value = value
      changes.push({ type: 'put', version, frees: false })
    }
    if (changes.length > 0) await this.#commit(changes)
  }

  async finish (): Promise<Revision> {
    await this.#commit([{ type: 'compacted', revision: this.#last }])
    await this.#medium.close()
    publishPartial(this.#directory)
    this.#closed = true
    await this.#lock.release()
    return this.#last
  }

  async discard (): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#medium.close()
    removePartial(this.#directory)
    await this.#lock.release()
  }

  /**
   * In this store each revision belongs to one key. A transaction of etcd may write several keys; all but one then get
   * revisions that no client knows.
   */
  #free (revision: Revision): Revision {
    if (!this.#revisions.has(revision)) {
      this.#revisions.add(revision)
      return revision
    }
    return ++this.#last
  }

  #lease (lease: Lease, changes: Change[]): number {
    const knownId = this.#leases.get(lease)
    if (knownId !== undefined) return knownId
    const id = ++this.#lastLease
    this.#leases.set(lease, id)
    changes.push({ type: 'lease', lease: { id, ...lease } })
    return id
  }

  async #commit (changes: readonly Change[]): Promise<void> {
    try {
      await this.#medium.commit(changes)
    } catch (error) {
      throw isStorageError(error, 'NoSpace')
        ? new StorageError(
            'NoSpace',
          `the disk of the directory ${this.#directory} is too full for the store (--data-dir-min-free is to stay ` +
            'free)',
          { cause: error }
          )
        : error
    }
  }
}

/** Creates the empty file, with mode 0600, and replaces a leftover one. The folder must be locked. @returns its path */
export function makePartial (directory: string): string {
  removePartial(directory)
  const file = path.join(directory, PARTIAL_FILE)
  closeSync(openSync(file, 'wx', 0o600))
  return file
}

export function removePartial (directory: string): void {
  const file = path.join(directory, PARTIAL_FILE)
  rmSync(file, { force: true })
  rmSync(`${file}-lock`, { force: true })
}

/** Makes the closed file the store of the folder, durably. */
export function publishPartial (directory: string): void {
  const file = path.join(directory, PARTIAL_FILE)
  sync(file)
  // The lock file of the replaced store lists readers that do not read the new one.
  rmSync(path.join(directory, `${STORE_FILE}-lock`), { force: true })
  renameSync(file, path.join(directory, STORE_FILE))
  sync(directory)
  rmSync(`${file}-lock`, { force: true })
}
