/**
 * The medium of the embedded engine on disk: an open LMDB table. LMDB runs one transaction per batch on its own thread
 * and syncs it before the batch resolves.
 */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { RootDatabase } from 'lmdb'
import { StorageError } from '../errors.js'
import { systemClock } from '../../event-loop/clock.js'
import type { EngineOptions } from './engine.js'
import type { Version } from './history.js'
import type { DirectoryLock } from './lock.js'
import type { Change, Medium, StoredLease, StoredState, StoredVersion } from './medium.js'
import {
  addKey, CHECKED, describeTotalsMismatch, FIRST_FORMAT, FORMAT, formatTotals, LEASES_START, leaseIdOf, leaseKey,
  metaKey, parseLease, parseTotals, parseVersionKey, seal, TOTALS_KEY, type Totals, UNCHECKED, unseal, VERSIONS_END,
  VERSIONS_START, versionKey
} from './record.js'
import { DEFAULT_MIN_FREE, freeBytesOf, DiskSpace } from './disk-space.js'
import type { Retention } from './retention.js'

const LOAD_BATCH = 4096
const EMPTY = Buffer.alloc(0)

export type Table = RootDatabase<Uint8Array, Uint8Array>

/** The table of a file, in a directory that is locked. */
export interface OpenedTable { readonly table: Table, readonly file: string, readonly lock: DirectoryLock }

export interface EmbeddedOptions extends EngineOptions {
  /** Bytes of the disk that stay free; 64 MiB by default. */
  readonly minFree?: number
  /** How much history is kept. Default: the caller compacts. */
  readonly historyRetention?: Retention
  /** Returns the free bytes of the disk; by default from the file system. */
  readonly freeBytes?: () => number
  /** Receives notes for the operator about the opening and the format. */
  readonly note?: (text: string) => void
  /** The lock of the directory, if another process of the server has it already. */
  readonly lock?: DirectoryLock
}

/** Pages a batch may need above the pages it changes, in both trees, if all of them split. */
const SPLIT_PAGES = 32
/** Per large value, which has its own pages. */
const PAGE_HEADER = 64
/** Per change: its leaf, half empty after a split, and its share of the pages above. */
const PAGES_PER_CHANGE = 2
/** Maximum size of a rewritten list of free pages; lmdb keeps no more of it at a time. */
const FREE_LIST_BYTES = 1024 * 1024

/** Results of single operations are irrelevant: the batch reports the outcome. */
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
  readonly #space: DiskSpace
  readonly #pageSize: number
  /** Versions up to this revision are in the first format. */
  #unchecked = 0
  /** As last written. */
  #totals: Totals = { revision: 0, versions: 0, keys: 0 }
  /** Whether the store is still marked with the first format. */
  #firstFormat: boolean
  readonly #note: EmbeddedOptions['note']

  /** @param first whether the store is in the first format; the first batch upgrades it */
  constructor ({ table, file, lock }: OpenedTable, first: boolean, options: EmbeddedOptions) {
    this.#table = table
    this.#firstFormat = first
    this.#note = options.note
    this.#file = file
    this.#lock = lock
    this.#pageSize = pageCounts(table).size
    const directory = path.dirname(file)
    const { clock = systemClock } = options
    this.#space = new DiskSpace({
      directory,
      minFree: options.minFree ?? DEFAULT_MIN_FREE,
      freeBytes: options.freeBytes ?? (() => freeBytesOf(directory)),
      reusable: () => pageCounts(table).free * this.#pageSize,
      now: () => clock.elapsed()
    })
  }

  get refusal (): StorageError | undefined { return this.#space.refusal }
  get shortage (): StorageError | undefined { return this.#space.shortage }

  /** Collects a batch for one event loop turn, so that writes arriving together share one sync. */
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
    this.#totals = this.#readTotals() ?? this.#totals
    return { compacted, revision: this.#totals.revision, leases }
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
        if (version.revision <= revision) {
          throw new RangeError(`it has revision ${version.revision} after revision ${revision}`)
        }
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

  #readTotals (): Totals | undefined {
    const sealed = this.#table.getBinary(TOTALS_KEY)
    const totals = sealed && parseTotals(sealed)
    if (sealed !== undefined && totals === undefined) throw new RangeError('the count of its versions can not be read')
    return totals
  }

  /** Compares the records found with the totals. @throws RangeError */
  #check (counted: Totals): void {
    const totals = this.#readTotals()
    // A store in the first format has no totals until its first batch.
    if (totals === undefined && this.#firstFormat) {
      this.#totals = counted
      return
    }
    const fault = describeTotalsMismatch(counted, this.#totals)
    if (fault !== undefined) throw new RangeError(fault)
  }

  async commit (changes: readonly Change[]): Promise<void> {
    this.#space.admit(this.#maxGrowth(changes), changes.some(grows))
    const totals = this.#totalsAfter(changes)
    let failure: unknown
    try {
      if (await this.#table.batch(() => this.#applyAll(changes, totals))) {
        this.#totals = totals
        this.#noteUpgrade()
        // A snapshot that was killed still counts as a reader, whose pages are not reused.
        if (changes.some(change => change.type === 'compacted')) this.#table.readerCheck()
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
    throw new StorageError(
      'UnknownOutcome', `the store could not make sure of what it wrote to ${this.#file}: ${why}`, { cause: failure }
    )
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

  /** Maximum bytes by which the file can grow. */
  #maxGrowth (changes: readonly Change[]): number {
    let pages = SPLIT_PAGES
    for (const change of changes) {
      pages += PAGES_PER_CHANGE
      if (change.type === 'put') {
        pages += Math.ceil(((change.version.value?.byteLength ?? 0) + PAGE_HEADER) / this.#pageSize)
      }
    }
    return pages * this.#pageSize + FREE_LIST_BYTES
  }

  #key (version: Version): Uint8Array {
    return versionKey(version.revision <= this.#unchecked ? UNCHECKED : CHECKED, version)
  }

  #totalsAfter (changes: readonly Change[]): Totals {
    let { revision, versions, keys } = this.#totals
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

  #applyAll (changes: readonly Change[], totals: Totals): void {
    const writer: Writer = this.#table
    for (const change of changes) this.#apply(writer, change)
    if (this.#firstFormat) writer.put(metaKey('format'), Buffer.from(FORMAT, 'latin1'))
    if (this.#firstFormat || totals.versions !== this.#totals.versions || totals.revision !== this.#totals.revision) {
      writer.put(TOTALS_KEY, formatTotals(totals))
    }
  }

  #noteUpgrade (): void {
    if (!this.#firstFormat) return
    this.#firstFormat = false
    this.#note?.(`the store ${this.#file} is of the format '${FORMAT}' from now on, it was '${FIRST_FORMAT}': ` +
      `releases that know only '${FIRST_FORMAT}' can read it no longer; to go back to one, restore a backup from ` +
      'before')
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
    // The read transaction may predate the last commit.
    this.#table.resetReadTxn()
    return this.#table.getBinary(key)
  }
}

/** False for changes that free space, now or later. */
const grows = (change: Change): boolean => change.type === 'lease' || (change.type === 'put' && !change.frees)

/** Page size, and unused pages of the file. */
export function pageCounts (table: Table): { size: number, free: number } {
  // typed as an empty object by lmdb
  const { pageSize, lastPageNumber, root, free } = table.getStats() as unknown as Stats
  return { size: pageSize, free: lastPageNumber - 1 - pagesOf(root) - pagesOf(free) }
}

interface TreeStats {
  readonly treeBranchPageCount: number, readonly treeLeafPageCount: number, readonly overflowPages: number
}
interface Stats {
  readonly pageSize: number, readonly lastPageNumber: number, readonly root: TreeStats, readonly free: TreeStats
}

const pagesOf = ({ treeBranchPageCount, treeLeafPageCount, overflowPages }: TreeStats): number =>
  treeBranchPageCount + treeLeafPageCount + overflowPages

/** LMDB rejects a batch with an error that refers to the reason. */
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
