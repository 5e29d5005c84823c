/**
 * The disk under the embedded engine: one LMDB file. LMDB does one transaction per batch on its own
 * thread and syncs it to disk before it answers.
 */
import { chmod, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Database, RootDatabase } from 'lmdb'
import type { Backend } from '../backend.js'
import { StorageError } from '../errors.js'
import { makeFolder } from '../folder.js'
import { Engine, type EngineOptions } from './engine.js'
import type { Version } from './history.js'
import { faultOf } from './header.js'
import { type DirectoryLock, lockDirectory } from './lock.js'
import type { Change, Medium, StoredLease, StoredState, StoredVersion } from './medium.js'
import { FORMAT, LEASES_START, VERSIONS_END, VERSIONS_START, leaseIdOf, leaseKey, metaKey, parseVersionKey, versionKey } from './record.js'

const FILE = 'data.mdb'
const LOAD_PIECE = 4096
const EMPTY = Buffer.alloc(0)

type Table = RootDatabase<Uint8Array, Uint8Array>

/** Inside a batch the single operations answer nothing of interest: the batch answers for all. */
interface Writer {
  put: (key: Uint8Array, value: Uint8Array) => unknown
  remove: (key: Uint8Array) => unknown
}

class LmdbMedium implements Medium {
  readonly name = 'embedded'
  readonly keepsValues = false
  readonly #table: Table
  readonly #file: string
  readonly #lock: DirectoryLock

  constructor (table: Table, file: string, lock: DirectoryLock) {
    this.#table = table
    this.#file = file
    this.#lock = lock
  }

  /** The batch is gathered for one turn of the loop: whatever its sockets bring shares one sync. */
  gather (start: () => void): void {
    setImmediate(start)
  }

  state (): StoredState {
    const compacted = this.#table.getBinary(metaKey('compacted'))
    const leases: StoredLease[] = []
    for (const { key, value } of this.#table.getRange({ start: LEASES_START, end: VERSIONS_START })) {
      leases.push({ ...parseLease(value), id: leaseIdOf(key) })
    }
    return { compacted: compacted === undefined ? 0 : Number(compacted.toString('latin1')), leases }
  }

  * versions (): Iterable<StoredVersion[]> {
    let start: Uint8Array = VERSIONS_START
    while (true) {
      const piece: StoredVersion[] = []
      for (const key of this.#table.getKeys({ start, end: VERSIONS_END, limit: LOAD_PIECE })) {
        piece.push(parseVersionKey(key))
        start = key
      }
      if (piece.length === 0) return
      start = Buffer.concat([start, Buffer.of(0)])
      yield piece
    }
  }

  async commit (changes: readonly Change[]): Promise<void> {
    let failure: unknown
    try {
      if (await this.#table.batch(() => { for (const change of changes) this.#apply(this.#table, change) })) return
    } catch (error) {
      failure = await causeOf(error)
    }
    const written = changes.find(change => change.type === 'put')
    const why = failure instanceof Error ? failure.message : 'the batch was refused'
    if (written === undefined || this.#read(versionKey(written.version)) === undefined) {
      throw new StorageError('Unavailable', `the store could not write to ${this.#file}: ${why}`, { cause: failure })
    }
    throw new StorageError('UnknownOutcome', `the store could not make sure of what it wrote to ${this.#file}: ${why}`, { cause: failure })
  }

  value (version: Version): Uint8Array {
    const value = this.#read(versionKey(version))
    if (value === undefined) {
      const { key } = version.entry
      throw new StorageError('Corrupt', `${this.#file} does not hold the value of ${key} at revision ${version.revision}`, { key })
    }
    return value
  }

  async size (): Promise<number> {
    return (await stat(this.#file)).size
  }

  async close (): Promise<void> {
    await this.#table.close()
    await this.#lock.release()
  }

  #apply (writer: Writer, change: Change): void {
    switch (change.type) {
      case 'put':
        writer.put(versionKey(change.version), change.version.value ?? EMPTY)
        break
      case 'forget':
        writer.remove(versionKey(change.version))
        break
      case 'lease': {
        const { id, ...rest } = change.lease
        writer.put(leaseKey(id), Buffer.from(JSON.stringify(rest)))
        break
      }
      case 'unlease':
        writer.remove(leaseKey(change.id))
        break
      case 'compacted':
        writer.put(metaKey('compacted'), Buffer.from(String(change.revision), 'latin1'))
        break
    }
  }

  #read (key: Uint8Array): Uint8Array | undefined {
    const value = this.#table.getBinary(key)
    if (value !== undefined) return value
    // The reader may still be looking at the state before the last commit.
    this.#table.resetReadTxn()
    return this.#table.getBinary(key)
  }
}

/** LMDB rejects a batch with an error that says where the reason can be had. */
async function causeOf (error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<unknown>(resolve => { timer = setTimeout(resolve, 100, error) })
  const reason = Promise.resolve(error.commitError).then(() => error, (reason: unknown) => reason)
  try {
    return await Promise.race([reason, late])
  } finally {
    clearTimeout(timer)
  }
}

function parseLease (value: Uint8Array): { ttlSeconds: number, expires: number } {
  const parsed: unknown = JSON.parse(Buffer.from(value).toString('utf8'))
  if (typeof parsed === 'object' && parsed !== null && 'ttlSeconds' in parsed && 'expires' in parsed &&
    typeof parsed.ttlSeconds === 'number' && typeof parsed.expires === 'number') {
    return { ttlSeconds: parsed.ttlSeconds, expires: parsed.expires }
  }
  throw new RangeError('a lease in the store can not be read')
}

/**
 * Opens the store in this directory, making both where they do not exist (the directory for this user alone).
 * @throws StorageError 'Unavailable' when another process has it or the file system refuses, 'Corrupt' when
 * what is there is not a store of ours, damaged, or of a newer format
 */
export async function openEmbedded (directory: string, options: EngineOptions = {}): Promise<Backend> {
  const { lock, table, file } = await openTable(directory)
  try {
    const medium = new LmdbMedium(table, file, lock)
    await checkFormat(table, directory)
    return await Engine.open(medium, options)
  } catch (error) {
    await table.close()
    await lock.release()
    throw error instanceof StorageError ? error : notOurs(directory, error)
  }
}

async function openTable (directory: string): Promise<{ lock: DirectoryLock, table: Table, file: string }> {
  let lock: DirectoryLock
  try {
    makeFolder(directory, 0o700)
    lock = await lockDirectory(directory)
  } catch (error) {
    if (error instanceof StorageError) throw error
    throw new StorageError('Unavailable', `the directory ${directory} can not be used for the store: ${messageOf(error)}`, { cause: error })
  }
  const file = path.join(directory, FILE)
  try {
    const fault = await faultOf(file)
    if (fault !== undefined) throw new Error(fault)
    const { open } = await import('lmdb')
    const table = open<Uint8Array, Uint8Array>({
      path: file,
      noSubdir: true,
      encoding: 'binary',
      keyEncoding: 'binary',
      // One plain commit, synced before it answers, instead of a commit now and a sync later.
      overlappingSync: false,
      // Batches are ours; its own leave a rejected promise that nobody holds when a commit fails.
      eventTurnBatching: false,
      mapSize: 1024 * 1024 * 1024
    })
    await chmod(file, 0o600)
    return { lock, table, file }
  } catch (error) {
    await lock.release()
    throw error instanceof StorageError ? error : notOurs(directory, error)
  }
}

async function checkFormat (table: Database<Uint8Array, Uint8Array>, directory: string): Promise<void> {
  const format = table.getBinary(metaKey('format'))?.toString('latin1')
  if (format === FORMAT) return
  if (format !== undefined) {
    throw new StorageError('Corrupt', `the directory ${directory} holds a store of the format '${format.slice(0, 40)}', this server reads '${FORMAT}'`)
  }
  if ([...table.getKeys({ limit: 1 })].length > 0) {
    throw new StorageError('Corrupt', `the directory ${directory} holds the data of another program: no format of ours stands in it`)
  }
  await table.put(metaKey('format'), Buffer.from(FORMAT, 'latin1'))
}

function notOurs (directory: string, error: unknown): StorageError {
  return new StorageError('Corrupt', `the directory ${directory} does not hold a readable store: ${messageOf(error)}`, { cause: error })
}

function messageOf (error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
