/**
 * The embedded store: a multi-version engine over a medium. Keys and versions are in memory, values on the medium.
 * Comparisons use the newest state, pending writes included, and revisions are assigned in that order. Every result, a
 * failed comparison included, is returned only after everything it depends on is durable and delivered to watches.
 */
import type {
  Backend, BackendStatus, BackendWatch, CreateOptions, Guard, LeaseId, RangeRequest, RangeResult, ReadResult, Revision,
  WatchRequest, WriteOptions, WriteResult
} from '../backend.js'
import { StorageError } from '../errors.js'
import { checkGuards, checkKey, wholeSeconds } from '../key.js'
import { type Clock, systemClock } from '../../event-loop/clock.js'
import { Committer, type Operation } from './committer.js'
import { Compactor } from './compaction.js'
import { type Entry, type Version, visibleAt } from './history.js'
import { Leases } from './leases.js'
import { contentsOf, load } from './load.js'
import type { Change, Contents, Medium } from './medium.js'
import { Readers } from './readers.js'
import { countAt, keyValue, replay, valuesOf, versionsAt } from './snapshot.js'
import { Versions } from './versions.js'
import { WatchHub } from './watches.js'
import { Yielder } from './yielder.js'

export interface EngineOptions {
  readonly clock?: Clock
}

const LEASE_RETRY_MS = 1000

export class Engine implements Backend {
  readonly name: string
  readonly #medium: Medium
  readonly #clock: Clock
  readonly #committer: Committer
  readonly #versions = new Versions()
  readonly #watches: WatchHub
  readonly #leases: Leases
  readonly #readers = new Readers()
  readonly #compactor: Compactor
  /** The last revision delivered to every watch. */
  #delivered: Revision = 1
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
    this.#compactor = new Compactor(this.#versions, this.#readers, changes => this.#store(changes), this.#clock)
    this.#watches = new WatchHub({
      delivered: () => this.#delivered,
      durable: () => this.#versions.durable,
      compacted: () => this.#versions.compacted,
      replay: (keys, revisions) => replay(this.#versions.log, keys, revisions, this.#value)
    })
  }

  /** Opens the engine on a medium and loads its data. */
  static async open (medium: Medium, options: EngineOptions = {}): Promise<Engine> {
    const engine = new Engine(medium, options)
    const garbage = await load(medium, engine.#versions, engine.#leases)
    engine.#delivered = engine.#versions.durable
    // The next start finds versions that can't be removed now.
    if (garbage.length > 0) engine.#store(garbage.map(version => ({ type: 'forget', version }))).catch(() => {})
    return engine
  }

  async get (key: string, revision?: Revision): Promise<ReadResult> {
    const at = this.#readable(revision)
    const entry = this.#versions.index.get(key)
    const version = entry && visibleAt(entry, at)
    return { revision: at, kv: version && keyValue(version, this.#value) }
  }

  async list (request: RangeRequest): Promise<RangeResult> {
    const { start, end, limit = 0 } = request
    const { index, log, durable } = this.#versions
    const at = this.#readable(request.revision)
    // A compaction waits for the versions that a paused read needs.
    return await this.#readers.during(at, async () => {
      const versionsFound = versionsAt(index, request, at, limit)
      const count = at === durable ? index.count(start, end) : await countAt({ index, log, durable }, request, at)
      const kvs = await valuesOf(await versionsFound, this.#value)
      return { revision: at, kvs, more: count > kvs.length, count }
    })
  }

  async count (start: string, end: string): Promise<number> {
    this.#readable(undefined)
    return this.#versions.index.count(start, end)
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
    await this.#compactor.compact(revision)
  }

  compactedRevision (): Revision {
    return this.#versions.compacted
  }

  async revision (): Promise<Revision> {
    this.#check()
    return this.#versions.durable
  }

  revisionNow (): Revision {
    return this.#delivered
  }

  async status (): Promise<BackendStatus> {
    this.#check()
    if (this.#failure !== undefined) throw this.#failure
    return { size: await this.#medium.size(), revision: this.#versions.durable }
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
    return contentsOf(this.#versions, this.#leases, this.#value)
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

  #readable (revision: Revision | undefined): Revision {
    this.#check()
    return this.#versions.readable(revision)
  }

  /** `value` undefined deletes; `expected` undefined creates. */
  #write (
    key: string, value: Uint8Array | undefined, expected: Revision | undefined, options: CreateOptions | undefined
  ): Promise<WriteResult> {
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
      const base = this.#versions.index.get(key)?.newest
      const current = base === undefined || base.created === 0 ? undefined : base
      const guarded = this.#guarded(options?.guards ?? [])
      if (current?.revision !== expected || !guarded.hold) {
        const respond = () => resolve({
          succeeded: false, revision: this.#versions.durable, current: current && keyValue(current, this.#value)
        })
        if (Math.max(base?.revision ?? 0, guarded.newest) <= this.#versions.durable) respond()
        else {
          this.#committer.push({
            changes: [], version: undefined, done: () => { Promise.resolve().then(respond).catch(reject) },
            failed: reject
          })
        }
        return
      }
      const version = this.#append(this.#versions.index.ensure(key), value, current?.created, lease)
      this.#committer.push({
        changes: [{ type: 'put', version, frees }],
        version,
        done: () => { resolve({ succeeded: true, revision: version.revision }) },
        failed: reject
      })
    })
  }

  /**
   * Whether all guards hold, and the newest revision of their keys, deletions included. A failed comparison is reported
   * only once that is visible.
   */
  #guarded (guards: readonly Guard[]): { readonly hold: boolean, readonly newest: Revision } {
    checkGuards(guards)
    let hold = true
    let newest = 0
    for (const { key, revision } of guards) {
      const version = this.#versions.index.get(key)?.newest
      if (version?.revision !== revision || version.created === 0) hold = false
      newest = Math.max(newest, version?.revision ?? 0)
    }
    return { hold, newest }
  }

  #append (entry: Entry, value: Uint8Array | undefined, created: Revision | undefined, lease: number): Version {
    // Copy: a long-lived value must not retain the pooled buffer it arrived in.
    const version = this.#versions
      .append(entry, value !== undefined && this.#medium.keepsValues ? new Uint8Array(value) : value, created, lease)
    if (lease !== 0) this.#leases.attach(lease, entry.key)
    return version
  }

  #publish (batch: readonly Operation[]): void {
    const events = this.#versions.publish(batch, this.#value)
    if (events.length === 0) return
    for (const { version } of batch) if (version !== undefined) this.#detach(version)
    if (!this.#medium.keepsValues) {
      for (const { version } of batch) if (version !== undefined) version.value = undefined
    }
    this.#watches.publish(events, this.#versions.durable)
    this.#delivered = this.#versions.durable
  }

  /** Lets go of the key's former lease, unless a version that is to follow has it: that one may be the last. */
  #detach ({ entry, older }: Version): void {
    if (older === undefined || older.lease === 0) return
    for (let version = entry.newest; version !== undefined && version !== older; version = version.older) {
      if (version.lease === older.lease) return
    }
    this.#leases.detach(older.lease, entry.key)
  }

  #rollBack (lost: readonly Operation[], error: StorageError): void {
    this.#versions.rollBack(lost)
    // After a failure other than NoSpace the state of the medium is uncertain, so nothing is written until it is opened
    // again.
    if (error.code !== 'NoSpace') {
      this.#failure = new StorageError(
        'Unavailable', `the store stopped writing after a failure: ${error.message}`, { cause: error }
      )
    }
  }

  #store (changes: readonly Change[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#check()
      this.#committer.push({ changes, version: undefined, done: resolve, failed: reject })
    })
  }

  async #expire (id: number, keys: ReadonlySet<string>): Promise<void> {
    const yielder = new Yielder()
    const outcomes: Array<Promise<void>> = []
    for (const key of keys) {
      const entry = this.#versions.index.get(key)
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
}
