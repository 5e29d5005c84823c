/**
 * The embedded store: a multi-version engine over a medium. Keys and versions are in memory, values on the medium. Comparisons use the newest state, pending
 * writes included, and revisions are assigned in that order. Every result, a failed comparison included, is returned only after everything it depends on is
 * durable and delivered to watches.
 */
import type {
  Backend, BackendEvent, BackendStatus, BackendWatch, CreateOptions, Guard, LeaseId, RangeRequest, RangeResult, ReadResult, Revision, WatchRequest,
  WriteOptions, WriteResult
} from '../backend.js'
import { futureRevision, isStorageError, StorageError } from '../errors.js'
import { checkGuard, checkKey, wholeSeconds } from '../key.js'
import { type Clock, systemClock } from '../clock.js'
import { Committer, type Operation } from './committer.js'
import { compactChains } from './compaction.js'
import { type Entry, KeyIndex, Version, VersionLog, visibleAt } from './history.js'
import { Leases } from './leases.js'
import type { Change, Contents, Medium, StoredVersion } from './medium.js'
import { Yielder } from './yielder.js'
import { countAt, FreshEvent, keyValue, replay, valuesOf, versionsAt } from './snapshot.js'
import { WatchHub } from './watches.js'

export interface EngineOptions {
  readonly clock?: Clock
}

const LEASE_RETRY_MS = 1000
const SPACE_RETRY_MS = 1000

export class Engine implements Backend {
  readonly name: string
  readonly #medium: Medium
  readonly #clock: Clock
  readonly #committer: Committer
  readonly #index = new KeyIndex(() => this.#durable)
  readonly #log = new VersionLog()
  readonly #watches: WatchHub
  readonly #leases: Leases
  /** The last revision assigned. */
  #assigned: Revision = 1
  /** The last durable revision, which reads use. */
  #durable: Revision = 1
  /** The last revision delivered to every watch. */
  #delivered: Revision = 1
  #compacted: Revision = 0
  #compacting: Promise<void> = Promise.resolve()
  /** Number of pending reads by revision. */
  readonly #readers = new Map<Revision, number>()
  #onReaderDone: (() => void) | undefined
  #failure: StorageError | undefined
  #closing: Promise<void> | undefined
  #mediumClosed = false

  /** For an empty medium; use `open` for one with data. */
  constructor (medium: Medium, options: EngineOptions = {}) {
    this.name = medium.name
    this.#medium = medium
    this.#clock = options.clock ?? systemClock
    this.#committer = new Committer(medium, batch => this.#publish(batch), (lost, error) => this.#rollBack(lost, error))
    this.#leases = new Leases(this.#clock, (id, keys) => this.#expire(id, keys))
    this.#watches = new WatchHub({
      delivered: () => this.#delivered,
      durable: () => this.#durable,
      compacted: () => this.#compacted,
      replay: (start, end, after, upTo) => replay(this.#log, start, end, after, upTo, this.#value)
    })
  }

  /** Opens the engine on a medium and loads its data. */
  static async open (medium: Medium, options: EngineOptions = {}): Promise<Engine> {
    const engine = new Engine(medium, options)
    await engine.#load()
    return engine
  }

  async get (key: string, revision?: Revision): Promise<ReadResult> {
    const at = this.#readable(revision)
    const entry = this.#index.get(key)
    const version = entry && visibleAt(entry, at)
    return { revision: at, kv: version && keyValue(version, this.#value) }
  }

  async list (request: RangeRequest): Promise<RangeResult> {
    const { start, end, limit = 0 } = request
    const at = this.#readable(request.revision)
    return await this.#reading(at, async () => {
      const versionsFound = versionsAt(this.#index, start, end, at, limit)
      const count = at === this.#durable
        ? this.#index.count(start, end)
        : await countAt(this.#index, this.#log, start, end, at, this.#durable)
      const kvs = await valuesOf(await versionsFound, this.#value)
      return { revision: at, kvs, more: count > kvs.length, count }
    })
  }

  async count (start: string, end: string): Promise<number> {
    this.#readable(undefined)
    return this.#index.count(start, end)
  }

  create (key: string, value: Uint8Array, options?: CreateOptions): Promise<WriteResult> {
    return this.#write(key, value, undefined, options)
  }

  update (key: string, value: Uint8Array, expected: Revision, options?: WriteOptions): Promise<WriteResult> {
    return this.#write(key, value, expected, options)
  }

  delete (key: string, expected: Revision): Promise<WriteResult> {
    return this.#write(key, undefined, expected, undefined)
  }

  watch (request: WatchRequest): BackendWatch {
    return this.#watches.add(request)
  }

  async compact (revision: Revision): Promise<void> {
    this.#check()
    if (revision > this.#durable) {
      throw new StorageError('FutureRevision', `cannot compact to revision ${revision}: the newest is ${this.#durable}`)
    }
    if (revision <= this.#compacted) return await this.#compacting
    // Stop new reads and replays of the history to be removed.
    this.#compacted = revision
    const compaction = this.#compacting.then(() => this.#compact(revision))
    this.#compacting = compaction.catch(() => {})
    await compaction
  }

  compactedRevision (): Revision {
    return this.#compacted
  }

  async revision (): Promise<Revision> {
    this.#check()
    return this.#durable
  }

  revisionNow (): Revision {
    return this.#delivered
  }

  async status (): Promise<BackendStatus> {
    this.#check()
    if (this.#failure !== undefined) throw this.#failure
    return { size: await this.#medium.size(), revision: this.#durable }
  }

  shortage (): StorageError | undefined {
    return this.#medium.shortage
  }

  async lease (ttlSeconds: number): Promise<LeaseId> {
    this.#check()
    const { refusal } = this.#medium
    if (refusal !== undefined) throw refusal
    const lease = this.#leases.grant(wholeSeconds(ttlSeconds))
    try {
      await this.#store([{ type: 'lease', lease }])
    } catch (error) {
      this.#leases.forget(lease.id)
      throw error
    }
    return String(lease.id)
  }

  /** The newest state without its history. The values are shared and must not be changed. */
  contents (): Contents {
    this.#check()
    const versions: Required<StoredVersion>[] = []
    this.#index.walk('', '\x7f', entry => {
      const version = visibleAt(entry, this.#durable)
      if (version !== undefined) versions.push({ key: entry.key, revision: version.revision, created: version.created, lease: version.lease, value: this.#value(version) })
      return true
    })
    return { revision: this.#durable, versions, leases: this.#leases.all() }
  }

  close (): Promise<void> {
    this.#closing ??= (async () => {
      this.#leases.close()
      await this.#committer.settled()
      this.#watches.close(this.#closedError())
      // Paused reads must not access a closed medium.
      this.#mediumClosed = true
      await this.#medium.close()
    })()
    return this.#closing
  }

  readonly #value = (version: Version): Uint8Array => {
    if (version.value !== undefined) return version.value
    if (this.#mediumClosed) throw this.#closedError()
    return this.#medium.value(version)
  }

  #closedError (): StorageError {
    return new StorageError('Closed', `the ${this.name} store is closed`)
  }

  #check (): void {
    if (this.#closing !== undefined) throw this.#closedError()
  }

  /** The revision to read. */
  #readable (revision: Revision | undefined): Revision {
    this.#check()
    if (revision === undefined || revision === 0) return this.#durable
    if (revision > this.#durable) {
      throw futureRevision(revision, this.#durable)
    }
    if (revision < this.#compacted) {
      throw new StorageError('Compacted', `revision ${revision} is no longer kept, the oldest kept is ${this.#compacted}`)
    }
    return revision
  }

  /** Delays compaction of the versions that a paused read needs. */
  async #reading<T> (revision: Revision, read: () => Promise<T>): Promise<T> {
    this.#readers.set(revision, (this.#readers.get(revision) ?? 0) + 1)
    try {
      return await read()
    } finally {
      const left = (this.#readers.get(revision) ?? 1) - 1
      if (left > 0) this.#readers.set(revision, left)
      else this.#readers.delete(revision)
      this.#onReaderDone?.()
    }
  }

  /** `value` undefined deletes; `expected` undefined creates. */
  #write (key: string, value: Uint8Array | undefined, expected: Revision | undefined, options: CreateOptions | undefined): Promise<WriteResult> {
    return new Promise((resolve, reject) => {
      this.#check()
      if (this.#failure !== undefined) throw this.#failure
      checkKey(key)
      const frees = value === undefined || options?.deleting === true
      const refusal = frees ? undefined : this.#medium.refusal
      if (refusal !== undefined) throw refusal
      const lease = options?.lease === undefined ? 0 : Number(options.lease)
      if (lease !== 0 && !this.#leases.has(lease)) {
        throw new StorageError('NotFound', `lease ${options?.lease} does not exist or has ended`, { key })
      }
      const base = this.#index.get(key)?.newest
      const current = base === undefined || base.created === 0 ? undefined : base
      const guard = options?.guard
      const guardVersion = guard === undefined ? undefined : this.#guardVersion(guard)
      if (current?.revision !== expected || (guard !== undefined && !(guardVersion?.revision === guard.revision && guardVersion.created !== 0))) {
        const respond = () => resolve({ succeeded: false, revision: this.#durable, current: current && keyValue(current, this.#value) })
        if (Math.max(base?.revision ?? 0, guardVersion?.revision ?? 0) <= this.#durable) respond()
        else this.#committer.push({ changes: [], version: undefined, done: () => { Promise.resolve().then(respond).catch(reject) }, failed: reject })
        return
      }
      const version = this.#append(this.#index.ensure(key), value, current?.created, lease)
      this.#committer.push({
        changes: [{ type: 'put', version, frees }],
        version,
        done: () => { resolve({ succeeded: true, revision: version.revision }) },
        failed: reject
      })
    })
  }

  /** The newest version of a guard's key, deletions included. A failed comparison is reported only once that version is visible. */
  #guardVersion ({ key, revision }: Guard): Version | undefined {
    checkGuard(key, revision)
    return this.#index.get(key)?.newest
  }

  #append (entry: Entry, value: Uint8Array | undefined, created: Revision | undefined, lease: number): Version {
    const revision = ++this.#assigned
    // Copy: a long-lived value must not retain the pooled buffer it arrived in.
    const kept = value !== undefined && this.#medium.keepsValues ? new Uint8Array(value) : value
    const version = new Version(entry, revision, value === undefined ? 0 : created ?? revision, lease, entry.newest, kept)
    entry.newest = version
    this.#log.push(version)
    if (lease !== 0) this.#leases.attach(lease, entry.key)
    return version
  }

  #publish (batch: readonly Operation[]): void {
    const events: BackendEvent[] = []
    for (const { version } of batch) {
      if (version === undefined) continue
      this.#durable = version.revision
      if (version.created === version.revision) this.#index.adjust(version.entry, 1)
      else if (version.created === 0) this.#index.adjust(version.entry, -1)
      events.push(new FreshEvent(version, this.#value))
    }
    if (events.length === 0) return
    if (!this.#medium.keepsValues) {
      for (const { version } of batch) if (version !== undefined) version.value = undefined
    }
    this.#watches.publish(events, this.#durable)
    this.#delivered = this.#durable
  }

  #rollBack (lost: readonly Operation[], error: StorageError): void {
    for (const { version } of lost.toReversed()) {
      if (version === undefined) continue
      const { entry } = version
      this.#log.pop(version)
      entry.newest = version.older
      if (entry.newest === undefined) this.#index.remove(entry)
    }
    // Assigned revisions are not reused. After a failure other than NoSpace the state of the medium is uncertain, so nothing is written until it is opened
    // again.
    if (error.code !== 'NoSpace') this.#failure = new StorageError('Unavailable', `the store stopped writing after a failure: ${error.message}`, { cause: error })
  }

  #store (changes: readonly Change[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#check()
      this.#committer.push({ changes, version: undefined, done: resolve, failed: reject })
    })
  }

  async #compact (revision: Revision): Promise<void> {
    await this.#store([{ type: 'compacted', revision }])
    while ([...this.#readers.keys()].some(reader => reader < revision)) {
      await new Promise<void>(resolve => { this.#onReaderDone = resolve })
    }
    for await (const garbage of compactChains(this.#index, this.#log, revision)) {
      await this.#forget(garbage)
    }
  }

  /** Removes versions from the medium, retrying while the disk is full. */
  async #forget (garbage: readonly Version[]): Promise<void> {
    for (;;) {
      try {
        return await this.#store(garbage.map(version => ({ type: 'forget', version })))
      } catch (error) {
        if (!isStorageError(error, 'NoSpace')) throw error
        await new Promise<void>(resolve => { this.#clock.after(SPACE_RETRY_MS, resolve) })
      }
    }
  }

  async #expire (id: number, keys: ReadonlySet<string>): Promise<void> {
    const yielder = new Yielder()
    const outcomes: Array<Promise<void>> = []
    for (const key of keys) {
      const entry = this.#index.get(key)
      const current = entry?.newest
      if (entry === undefined || current === undefined || current.created === 0 || current.lease !== id) continue
      const version = this.#append(entry, undefined, undefined, 0)
      outcomes.push(new Promise((resolve, reject) => this.#committer.push({
        changes: [{ type: 'put', version, frees: true }], version, done: resolve, failed: reject
      })))
      if (yielder.isDue()) await yielder.yield()
      // The next start finds the expired lease and continues.
      if (this.#closing !== undefined) break
    }
    try {
      await Promise.all(outcomes)
      await this.#store([{ type: 'unlease', id }])
    } catch {
      if (this.#closing === undefined) this.#leases.retry(id, keys, LEASE_RETRY_MS)
    }
  }

  async #load (): Promise<void> {
    const { compacted, revision: newest, leases } = this.#medium.state()
    this.#compacted = compacted
    const garbage: Version[] = []
    const yielder = new Yielder()
    let last = Math.max(1, compacted, newest)
    for (const batch of this.#medium.versions()) {
      for (const { key, revision, created, lease, value } of batch) {
        last = Math.max(last, revision)
        const entry = this.#index.ensure(key)
        const older = entry.newest
        const version = new Version(entry, revision, created, lease, older, value)
        entry.newest = version
        if (revision > compacted) {
          this.#log.push(version)
        } else if (older !== undefined) {
          // Leftovers of an interrupted compaction: remove older versions first.
          version.older = undefined
          garbage.push(older)
        }
      }
      await yielder.yield()
    }
    this.#assigned = this.#durable = this.#delivered = last
    this.#index.recount()
    for (const lease of leases) this.#leases.restore(lease)
    this.#attachLoaded(garbage)
    // The next start finds versions that can't be removed now.
    if (garbage.length > 0) this.#store(garbage.map(version => ({ type: 'forget', version }))).catch(() => {})
  }

  /** Second pass of the load: leases of the newest versions, and tombstones that a compaction left behind. */
  #attachLoaded (garbage: Version[]): void {
    const deletedEntries: Entry[] = []
    this.#index.walk('', '\x7f', entry => {
      const { newest } = entry
      if (newest === undefined) return true
      if (newest.lease !== 0) this.#leases.attach(newest.lease, entry.key)
      if (newest.created === 0 && newest.revision <= this.#compacted) {
        garbage.push(newest)
        deletedEntries.push(entry)
      }
      return true
    })
    for (const entry of deletedEntries) this.#index.remove(entry)
  }
}
