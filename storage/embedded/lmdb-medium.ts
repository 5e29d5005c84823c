/**
 * What the embedded engine asks of a disk, over an open table of LMDB. LMDB does one transaction per batch on its
 * own thread and syncs it to disk before it answers.
 */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { RootDatabase } from 'lmdb'
import { StorageError } from '../errors.js'
import { systemClock } from '../clock.js'
import type { EngineOptions } from './engine.js'
import type { Version } from './history.js'
import type { DirectoryLock } from './lock.js'
import type { Change, Medium, StoredLease, StoredState, StoredVersion } from './medium.js'
import {
  addKey, CHECKED, faultOfTally, FORMAT, formatTally, LEASES_START, leaseIdOf, leaseKey, metaKey, parseLease, parseTally, parseVersionKey, seal, TALLY_KEY, type Tally, UNCHECKED, unseal, VERSIONS_END, VERSIONS_START, versionKey
} from './record.js'
import { DEFAULT_MIN_FREE, freeBytesOf, Space } from './space.js'

const LOAD_BATCH = 4096
const EMPTY = Buffer.alloc(0)

export type Table = RootDatabase<Uint8Array, Uint8Array>

export interface EmbeddedOptions extends EngineOptions {
  /** Bytes of the disk that stay free; 64 MiB by default. */
  readonly minFree?: number
  /** Bytes that may still be written to the disk; asked of the file system by default. */
  readonly freeBytes?: () => number
  /** Told what an operator should know of the opening. */
  readonly note?: (text: string) => void
}

/** Pages that a batch may take beside its own: those above what it changes, of both trees, when all of them are split. */
const ASIDE_PAGES = 32
/** Of a large value, which has pages of its own. */
const PAGE_HEADER = 64
/** Of a change: its leaf, half empty when it was split, and its share of those above. */
const CHANGE_PAGES = 2
/** The most that the list of free pages takes when it is written anew: the package keeps no more of it at a time. */
const FREE_LIST_BYTES = 1024 * 1024

/** Inside a batch the single operations answer nothing of interest: the batch answers for all. */
interface Writer {
  put: (key: Uint8Array, value: Uint8Array) => unknown
  remove: (key: Uint8Array) => unknown
}

export class LmdbMedium implements Medium {
  readonly name = 'embedded'
  readonly keepsValues = false
  readonly #table: Table
  readonly #file: string
  readonly #lock: DirectoryLock
  readonly #space: Space
  readonly #pageSize: number
  /** Versions up to here are of the first format. */
  #unchecked = 0
  /** As it was written last. */
  #tally: Tally = { revision: 0, versions: 0, keys: 0 }
  /** The store still says that it is of the first format. */
  #first: boolean

  /** @param first the store is of the first format: the first batch makes it one of ours */
  constructor (table: Table, file: string, lock: DirectoryLock, first: boolean, options: EmbeddedOptions) {
    this.#table = table
    this.#first = first
    this.#file = file
    this.#lock = lock
    this.#pageSize = pageCounts(table).size
    const directory = path.dirname(file)
    const { clock = systemClock } = options
    this.#space = new Space({
      directory,
      minFree: options.minFree ?? DEFAULT_MIN_FREE,
      freeBytes: options.freeBytes ?? (() => freeBytesOf(directory)),
      reusable: () => pageCounts(table).free * this.#pageSize,
      now: () => clock.elapsed()
    })
  }

  get refusal (): StorageError | undefined { return this.#space.refusal }
  get shortage (): StorageError | undefined { return this.#space.shortage }

  /** The batch is gathered for one turn of the loop: whatever its sockets bring shares one sync. */
  gather (start: () => void): void {
    setImmediate(start)
  }

  state (): StoredState {
    const compacted = Number(this.#table.getBinary(metaKey('compacted'))?.toString('latin1') ?? 0)
    if (!Number.isSafeInteger(compacted)) throw new RangeError('the revision it is compacted to can not be read')
    const leases: StoredLease[] = []
    for (const { key, value } of this.#table.getRange({ start: LEASES_START, end: VERSIONS_START })) {
      leases.push({ ...parseLease(value), id: leaseIdOf(key) })
    }
    this.#tally = this.#stored() ?? this.#tally
    return { compacted, revision: this.#tally.revision, leases }
  }

  * versions (): Iterable<StoredVersion[]> {
    let start: Uint8Array = VERSIONS_START
    let versions = 0
    let revision = 0
    let keys = 0
    while (true) {
      const batch: StoredVersion[] = []
      for (const key of this.#table.getKeys({ start, end: VERSIONS_END, limit: LOAD_BATCH })) {
        const version = parseVersionKey(key)
        if (version.revision <= revision) throw new RangeError(`it has revision ${version.revision} after revision ${revision}`)
        revision = version.revision
        if (version.kind === UNCHECKED) this.#unchecked = revision
        keys = addKey(keys, key, 1)
        batch.push(version)
        start = key
      }
      versions += batch.length
      if (batch.length === 0) break
      start = Buffer.concat([start, Buffer.of(0)])
      yield batch
    }
    this.#check({ revision, versions, keys })
  }

  #stored (): Tally | undefined {
    const sealed = this.#table.getBinary(TALLY_KEY)
    const tally = sealed && parseTally(sealed)
    if (sealed !== undefined && tally === undefined) throw new RangeError('the count of its versions can not be read')
    return tally
  }

  /** What was found is what is to be there. @throws RangeError */
  #check (found: Tally): void {
    const tally = this.#stored()
    // A store of the first format has none until the first batch.
    if (tally === undefined && this.#first) {
      this.#tally = found
      return
    }
    const fault = faultOfTally(found, this.#tally)
    if (fault !== undefined) throw new RangeError(fault)
  }

  async commit (changes: readonly Change[]): Promise<void> {
    this.#space.admit(this.#need(changes), changes.some(grows))
    const tally = this.#tallyAfter(changes)
    let failure: unknown
    try {
      if (await this.#table.batch(() => this.#applyAll(changes, tally))) {
        this.#tally = tally
        this.#first = false
        return
      }
    } catch (error) {
      failure = await causeOf(error)
    }
    const written = changes.find(change => change.type === 'put')
    const why = failure instanceof Error ? failure.message : 'the batch was refused'
    if (written === undefined || this.#read(this.#key(written.version)) === undefined) {
      throw new StorageError('Unavailable', `the store could not write to ${this.#file}: ${why}`, { cause: failure })
    }
    throw new StorageError('UnknownOutcome', `the store could not make sure of what it wrote to ${this.#file}: ${why}`, { cause: failure })
  }

  value (version: Version): Uint8Array {
    const { key } = version.entry
    const corrupt = (what: string, cause?: unknown): StorageError =>
      new StorageError('Corrupt', `${this.#file} ${what} of ${key} at revision ${version.revision}`, { key, cause })
    let stored: Uint8Array | undefined
    try {
      stored = this.#read(this.#key(version))
    } catch (error) {
      throw corrupt('does not yield the value', error)
    }
    if (stored === undefined) throw corrupt('does not hold the value')
    if (version.revision <= this.#unchecked) return stored
    const value = unseal(this.#key(version), stored)
    if (value === undefined) throw corrupt('holds a damaged value')
    return value
  }

  async size (): Promise<number> {
    return (await stat(this.#file)).size
  }

  async close (): Promise<void> {
    await this.#table.close()
    await this.#lock.release()
  }

  /** The most bytes by which the file can grow. */
  #need (changes: readonly Change[]): number {
    let pages = ASIDE_PAGES
    for (const change of changes) {
      pages += CHANGE_PAGES
      if (change.type === 'put') pages += Math.ceil(((change.version.value?.byteLength ?? 0) + PAGE_HEADER) / this.#pageSize)
    }
    return pages * this.#pageSize + FREE_LIST_BYTES
  }

  #key (version: Version): Uint8Array {
    return versionKey(version.revision <= this.#unchecked ? UNCHECKED : CHECKED, version)
  }

  #tallyAfter (changes: readonly Change[]): Tally {
    let { revision, versions, keys } = this.#tally
    for (const change of changes) {
      if (change.type === 'put') {
        revision = Math.max(revision, change.version.revision)
        versions++
        keys = addKey(keys, this.#key(change.version), 1)
      } else if (change.type === 'forget') {
        versions--
        keys = addKey(keys, this.#key(change.version), -1)
      }
    }
    return { revision, versions, keys }
  }

  #applyAll (changes: readonly Change[], tally: Tally): void {
    const writer: Writer = this.#table
    for (const change of changes) this.#apply(writer, change)
    if (this.#first) writer.put(metaKey('format'), Buffer.from(FORMAT, 'latin1'))
    if (this.#first || tally.versions !== this.#tally.versions || tally.revision !== this.#tally.revision) writer.put(TALLY_KEY, formatTally(tally))
  }

  #apply (writer: Writer, change: Change): void {
    switch (change.type) {
      case 'put': {
        const key = this.#key(change.version)
        writer.put(key, seal(key, change.version.value ?? EMPTY))
        break
      }
      case 'forget':
        writer.remove(this.#key(change.version))
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

/** False for what makes room, then or later. */
const grows = (change: Change): boolean => change.type === 'lease' || (change.type === 'put' && !change.frees)

/** Bytes of a page, and pages of the file that nothing is in. */
function pageCounts (table: Table): { size: number, free: number } {
  const { pageSize, lastPageNumber, root, free } = table.getStats() as unknown as Stats // the package declares it an empty object
  return { size: pageSize, free: lastPageNumber - 1 - pagesOf(root) - pagesOf(free) }
}

interface TreeStats { readonly treeBranchPageCount: number, readonly treeLeafPageCount: number, readonly overflowPages: number }
interface Stats { readonly pageSize: number, readonly lastPageNumber: number, readonly root: TreeStats, readonly free: TreeStats }

const pagesOf = ({ treeBranchPageCount, treeLeafPageCount, overflowPages }: TreeStats): number => treeBranchPageCount + treeLeafPageCount + overflowPages

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
