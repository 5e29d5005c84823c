/**
 * The embedded store: a multi-version engine over a medium. Keys and versions are in memory, values on
 * the medium. Comparisons are made at once against the newest state, pending writes included, and
 * revisions are assigned in that order; but whatever is answered, a success or a refused comparison, is
 * answered only when all it rests on is durable and the watches have been told.
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
import type { Change, Medium } from './medium.js'
import { Pace } from './pace.js'
import { countAt, FreshEvent, keyValue, replay, valuesOf, versionsAt } from './snapshot.js'
import { WatchHub } from './watches.js'

export interface EngineOptions {
  readonly clock?: Clock
}

const LEASE_RETRY = 1000
const ROOM_RETRY = 1000

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
  /** The last durable revision: what reads show. */
  #durable: Revision = 1
  /** The last revision that every watch was given. */
  #delivered: Revision = 1
  #compacted: Revision = 0
  #compacting: Promise<void> = Promise.resolve()
  /** Long reads under way, by the revision they read at. */
  readonly #readers = new Map<Revision, number>()
  #readersGone: (() => void) | undefined
  #failure: StorageError | undefined
  #closing: Promise<void> | undefined
  #gone = false

  /** Takes over an empty medium; one that may hold something goes through `open`. */
  constructor (medium: Medium, options: EngineOptions = {}) {
    this.name = medium.name
    this.#medium = medium
    this.#clock = options.clock ?? systemClock
    this.#committer = new Committer(medium, batch => this.#publish(batch), (lost, error) => this.#undo(lost, error))
    this.#leases = new Leases(this.#clock, (id, keys) => this.#expire(id, keys))
    this.#watches = new WatchHub({
      delivered: () => this.#delivered,
      durable: () => this.#durable,
      compacted: () => this.#compacted,
      replay: (start, end, after, upTo) => replay(this.#log, start, end, after, upTo, this.#value)
    })
  }

  /** Takes over an opened medium and everything in it. */
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
    // From here on nobody new may read or replay what is about to go.
    this.#compacted = revision
    const turn = this.#compacting.then(() => this.#compact(revision))
    this.#compacting = turn.catch(() => {})
    await turn
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

  close (): Promise<void> {
    this.#closing ??= (async () => {
      this.#leases.close()
      await this.#committer.settled()
      this.#watches.close(this.#closedError())
      // Reads that pause between turns of the loop must not find a closed medium.
      this.#gone = true
      await this.#medium.close()
    })()
    return this.#closing
  }

  readonly #value = (version: Version): Uint8Array => {
    if (version.value !== undefined) return version.value
    if (this.#gone) throw this.#closedError()
    return this.#medium.value(version)
  }

  #closedError (): StorageError {
    return new StorageError('Closed', `the ${this.name} store is closed`)
  }

  #check (): void {
    if (this.#closing !== undefined) throw this.#closedError()
  }

  /** The revision a read is to show. */
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

  /** Keeps a compaction from taking away what a read that pauses still needs. */
  async #reading<T> (revision: Revision, read: () => Promise<T>): Promise<T> {
    this.#readers.set(revision, (this.#readers.get(revision) ?? 0) + 1)
    try {
      return await read()
    } finally {
      const left = (this.#readers.get(revision) ?? 1) - 1
      if (left > 0) this.#readers.set(revision, left)
      else this.#readers.delete(revision)
      this.#readersGone?.()
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
      const guarding = guard === undefined ? undefined : this.#guarding(guard)
      if (current?.revision !== expected || (guard !== undefined && !(guarding?.revision === guard.revision && guarding.created !== 0))) {
        const answer = () => resolve({ succeeded: false, revision: this.#durable, current: current && keyValue(current, this.#value) })
        if (Math.max(base?.revision ?? 0, guarding?.revision ?? 0) <= this.#durable) answer()
        else this.#committer.push({ changes: [], version: undefined, done: () => { Promise.resolve().then(answer).catch(reject) }, failed: reject })
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

  /** What a guard is compared with, a deletion too: whoever is refused by that must see it. */
  #guarding ({ key, revision }: Guard): Version | undefined {
    checkGuard(key, revision)
    return this.#index.get(key)?.newest
  }

  #append (entry: Entry, value: Uint8Array | undefined, created: Revision | undefined, lease: number): Version {
    const revision = ++this.#assigned
    // What stays must not hold the slab that it came in.
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

  #undo (lost: readonly Operation[], error: StorageError): void {
    for (const { version } of lost.toReversed()) {
      if (version === undefined) continue
      const { entry } = version
      this.#log.pop(version)
      entry.newest = version.older
      if (entry.newest === undefined) this.#index.remove(entry)
    }
    // Revisions that were assigned are not assigned again. After a failure of the medium's own nothing more is
    // written until it has been opened anew: it may not be certain what it holds, nor what the failure left of it.
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
      await new Promise<void>(resolve => { this.#readersGone = resolve })
    }
    for await (const garbage of compactChains(this.#index, this.#log, revision)) {
      await this.#forget(garbage)
    }
  }

  /** What is cut off in memory goes from the medium too, if it takes until there is room to write that down. */
  async #forget (garbage: readonly Version[]): Promise<void> {
    for (;;) {
      try {
        return await this.#store(garbage.map(version => ({ type: 'forget', version })))
      } catch (error) {
        if (!isStorageError(error, 'NoSpace')) throw error
        await new Promise<void>(resolve => { this.#clock.after(ROOM_RETRY, resolve) })
      }
    }
  }

  async #expire (id: number, keys: ReadonlySet<string>): Promise<void> {
    const pace = new Pace()
    const outcomes: Array<Promise<void>> = []
    for (const key of keys) {
      const entry = this.#index.get(key)
      const current = entry?.newest
      if (entry === undefined || current === undefined || current.created === 0 || current.lease !== id) continue
      const version = this.#append(entry, undefined, undefined, 0)
      outcomes.push(new Promise((resolve, reject) => this.#committer.push({
        changes: [{ type: 'put', version, frees: true }], version, done: resolve, failed: reject
      })))
      if (pace.spent()) await pace.rest()
      // The next start finds the lease ended and goes on from here.
      if (this.#closing !== undefined) break
    }
    try {
      await Promise.all(outcomes)
      await this.#store([{ type: 'unlease', id }])
    } catch {
      if (this.#closing === undefined) this.#leases.retry(id, keys, LEASE_RETRY)
    }
  }

  async #load (): Promise<void> {
    const { compacted, revision: newest, leases } = this.#medium.state()
    this.#compacted = compacted
    const garbage: Version[] = []
    const pace = new Pace()
    let last = Math.max(1, compacted, newest)
    for (const batch of this.#medium.versions()) {
      for (const { key, revision, created, lease } of batch) {
        last = Math.max(last, revision)
        const entry = this.#index.ensure(key)
        const older = entry.newest
        const version = new Version(entry, revision, created, lease, older, undefined)
        entry.newest = version
        if (revision > compacted) {
          this.#log.push(version)
        } else if (older !== undefined) {
          // A compaction was cut short: what it had not yet removed goes now, older before newer.
          version.older = undefined
          garbage.push(older)
        }
      }
      await pace.rest()
    }
    this.#assigned = this.#durable = this.#delivered = last
    this.#index.recount()
    for (const lease of leases) this.#leases.restore(lease)
    this.#attachLoaded(garbage)
    // What can't be removed now is found again by the next start.
    if (garbage.length > 0) this.#store(garbage.map(version => ({ type: 'forget', version }))).catch(() => {})
  }

  /** Second pass of the load: leases of the newest versions, and tombstones that a compaction left behind. */
  #attachLoaded (garbage: Version[]): void {
    const gone: Entry[] = []
    this.#index.walk('', '\x7f', entry => {
      const { newest } = entry
      if (newest === undefined) return true
      if (newest.lease !== 0) this.#leases.attach(newest.lease, entry.key)
      if (newest.created === 0 && newest.revision <= this.#compacted) {
        garbage.push(newest)
        gone.push(entry)
      }
      return true
    })
    for (const entry of gone) this.#index.remove(entry)
  }
}
