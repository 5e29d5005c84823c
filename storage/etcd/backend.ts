/**
 * The back end on an etcd cluster. Every write is one transaction that compares the key's revision; every read of the
 * newest state is a quorum read.
 */
import type {
  Backend, BackendStatus, BackendWatch, CreateOptions, KeyValue, LeaseId, RangeRequest, RangeResult, ReadResult,
  Revision, WatchRequest, WriteOptions, WriteResult
} from '../backend.js'
import { isStorageError, StorageError } from '../errors.js'
import { checkGuards, checkKey, rangeOf, wholeSeconds } from '../key.js'
import { Connection, type ConnectionOptions } from './connection.js'
import { CheckedConnection, type FormatOptions } from './format.js'
import { CallError, closedError, isDenied } from './failures.js'
import { Presence } from './presence.js'
import { SharedRead } from './shared-read.js'
import type { RangeAnswer, RangeMessage, TxnAnswer } from './messages.js'
import { OUTCOME_TIMEOUT_MS, outcomeOf, type Attempt } from '../outcome.js'
import { Watches } from './watches.js'

export interface EtcdOptions extends ConnectionOptions {
  /**
   * The path above all keys; etcd's user needs no permissions elsewhere. Default '': every key that begins with a
   * slash.
   */
  readonly prefix?: string
  /** Timeout of `status()` in milliseconds; 2,000 by default. */
  readonly healthcheckTimeout?: number
  /** Checks the format before anything else. Default off. */
  readonly format?: Omit<FormatOptions, 'prefix'>
  /** Shows commands that a server uses the store. Default false. */
  readonly presence?: boolean
}

/** Items per message: a page is decoded in one event loop turn. */
const PAGE = 500
/** Attempts of a newest read if a compaction interrupts its pages. */
const MAX_READS = 3
/**
 * A key below the prefix that no resource uses. Reading it returns the newest revision; writing it proves the progress
 * of watches on servers that cannot report it.
 */
const PROGRESS_KEY = '.progress'

class EtcdBackend implements Backend {
  readonly name = 'etcd'
  readonly #connection: Connection | CheckedConnection
  readonly #presence: Presence | undefined
  readonly #scope: { readonly start: string, readonly end: string }
  readonly #progressKey: Buffer
  readonly #healthTimeout: number
  readonly #watches: Watches
  /** Watches whose receivers need previous values. */
  readonly #watchesWithPrevious: Watches
  readonly #sharedRevision: SharedRead<Revision>
  /** The newest revision of any response. */
  #newestSeen: Revision = 0
  #compacted: Revision = 0
  #closed = false
  #shortage: StorageError | undefined

  constructor (options: EtcdOptions) {
    const connection = new Connection(options)
    this.#connection = options.format === undefined
      ? connection
      : new CheckedConnection(connection, { prefix: options.prefix ?? '', ...options.format })
    if (options.presence === true) {
      this.#presence = new Presence(this.#connection, options.prefix ?? '', error => { this.#renewed(error) })
    }
    const path = `${options.prefix ?? ''}/`
    this.#scope = rangeOf(path)
    this.#progressKey = bytesOf(path + PROGRESS_KEY)
    this.#healthTimeout = options.healthcheckTimeout ?? 2_000
    this.#sharedRevision = new SharedRead(() => this.#readRevision())
    const watches = (previous: boolean) => new Watches({
      connection: this.#connection,
      start: bytesOf(this.#scope.start),
      end: bytesOf(this.#scope.end),
      mark: () => this.#writeProgressKey(),
      markKey: path + PROGRESS_KEY,
      previous,
      newestSeen: () => this.#newestSeen,
      revision: () => this.revision(),
      compacted: () => this.#compacted,
      noteCompacted: revision => this.#noteCompacted(revision)
    })
    this.#watches = watches(false)
    this.#watchesWithPrevious = watches(true)
  }

  async get (key: string, revision: Revision = 0, milliseconds?: number): Promise<ReadResult> {
    const response = await this.#range({ key: bytesOf(key), revision }, milliseconds)
    return { revision: revision === 0 ? response.revision : revision, kv: response.kvs[0] }
  }

  async list (request: RangeRequest): Promise<RangeResult> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#pages(request)
      } catch (error) {
        const compactedMeanwhile = (request.revision ?? 0) === 0 && error instanceof StorageError &&
          error.code === 'Compacted'
        if (!compactedMeanwhile || attempt === MAX_READS) throw error
      }
    }
  }

  async count (start: string, end: string): Promise<number> {
    return (await this.#range({ key: bytesOf(start), rangeEnd: bytesOf(end), countOnly: true })).count
  }

  async create (key: string, value: Uint8Array, options?: CreateOptions): Promise<WriteResult> {
    return await this.#write({ kind: 'create', key, value, expected: 0 }, options)
  }

  async update (key: string, value: Uint8Array, expected: Revision, options?: WriteOptions): Promise<WriteResult> {
    return await this.#write({ kind: 'update', key, value, expected }, options)
  }

  async delete (key: string, expected: Revision): Promise<WriteResult> {
    return await this.#write({ kind: 'delete', key, value: undefined, expected })
  }

  watch (request: WatchRequest): BackendWatch {
    const { start, end } = this.#scope
    if (request.start < start || request.end > end) {
      throw new TypeError(`a watch of ${request.start} to ${request.end} goes beyond ${start} to ${end}`)
    }
    return (request.previous === false ? this.#watches : this.#watchesWithPrevious).add(request)
  }

  async compact (revision: Revision): Promise<void> {
    // Otherwise another server has compacted this far or further.
    if (await this.#connection.compact(revision)) this.#noteCompacted(revision)
  }

  compactedRevision (): Revision {
    return this.#compacted
  }

  revision (): Promise<Revision> {
    return this.#closed ? Promise.reject(closedError()) : this.#sharedRevision.ask()
  }

  shortage (): StorageError | undefined {
    return this.#shortage
  }

  revisionNow (): undefined {
    return undefined
  }

  async status (): Promise<BackendStatus> {
    const [range, size] = await Promise.all([
      this.#range({ key: this.#progressKey, countOnly: true }, this.#healthTimeout),
      this.#connection.size(this.#healthTimeout).catch((error: unknown) => {
        // Newer versions of etcd tell the size to the root user only.
        if (isDenied(error)) return NaN
        throw error
      })
    ])
    return { size, revision: range.revision }
  }

  async lease (ttlSeconds: number): Promise<LeaseId> {
    const ttl = wholeSeconds(ttlSeconds)
    // If a retry grants a second lease, the unused one expires.
    const { ID } = await this.#connection.other<{ ID: string }>('Lease', 'leaseGrant', { TTL: String(ttl), ID: '0' })
    return ID
  }

  async close (): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#watches.close()
    this.#watchesWithPrevious.close()
    await this.#presence?.close()
    this.#connection.close()
  }

  async #pages ({ start, end, limit = 0, revision = 0 }: RangeRequest): Promise<RangeResult> {
    const kvs: KeyValue[] = []
    const rangeEnd = bytesOf(end)
    let key = bytesOf(start)
    let at = revision
    let count: number | undefined
    while (true) {
      const size = limit === 0 ? PAGE : Math.min(PAGE, limit - kvs.length)
      const response = await this.#range({ key, rangeEnd, limit: size, revision: at })
      at ||= response.revision
      count ??= response.count
      kvs.push(...response.kvs)
      const last = response.kvs.at(-1)
      if (!response.more || last === undefined || kvs.length === limit) {
        return { revision: at, kvs, more: response.more, count }
      }
      key = bytesOf(last.key + '\0')
    }
  }

  async #range (request: RangeMessage, milliseconds?: number): Promise<RangeAnswer> {
    const response = await this.#connection.range(request, milliseconds)
    this.#note(response.revision)
    return response
  }

  async #readRevision (): Promise<Revision> {
    return (await this.#range({ key: this.#progressKey, countOnly: true })).revision
  }

  async #writeProgressKey (): Promise<Revision> {
    const revision = await this.#connection.mark(this.#progressKey)
    this.#note(revision)
    return revision
  }

  #note (revision: Revision): void {
    if (revision > this.#newestSeen) this.#newestSeen = revision
  }

  #noteCompacted (revision: Revision): void {
    if (revision > this.#compacted) this.#compacted = revision
    this.#note(revision)
  }

  /** The failure of a call that had no effect; keeps whether etcd has space. */
  #refused (error: CallError): StorageError {
    const failure = this.#connection.failure(error)
    if (failure.code === 'NoSpace') this.#shortage = failure
    return failure
  }

  /** A server renews its presence every few seconds, which shows whether etcd takes values. */
  #renewed (error: unknown): void {
    if (error === undefined) this.#shortage = undefined
    else if (error instanceof CallError) this.#refused(error)
    else if (isStorageError(error, 'NoSpace')) this.#shortage = error
  }

  async #write (attempt: Attempt, options?: CreateOptions): Promise<WriteResult> {
    const { kind, key, value, expected } = attempt
    const { lease, guards = [] } = options ?? {}
    checkKey(key)
    if (!key.startsWith(this.#scope.start)) throw new TypeError(`a key is below ${this.#scope.start}: ${key}`)
    checkGuards(guards)
    if (lease !== undefined && !/^\d{1,19}$/.test(lease)) {
      throw new StorageError('NotFound', `lease ${lease} does not exist`, { key })
    }
    if (kind !== 'create' && expected <= 0) {
      // No key has such a revision; etcd would read it as 'does not exist'.
      const { revision, kv } = await this.get(key)
      return { succeeded: false, revision, current: kv }
    }
    const before = this.#newestSeen
    let response: TxnAnswer
    try {
      response = await this.#connection.txn({
        key: bytesOf(key), expected, value, lease,
        guards: guards.map(guard => ({ key: bytesOf(guard.key), expected: guard.revision }))
      })
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      if (!error.sent) throw this.#refused(error)
      return await outcomeOf(
        { get: (key, revision) => this.get(key, revision, OUTCOME_TIMEOUT_MS), watch: request => this.watch(request) },
        attempt, before, error
      )
    }
    const { succeeded, revision, kv } = response
    this.#note(revision)
    if (value !== undefined && succeeded) this.#shortage = undefined
    return succeeded ? { succeeded, revision } : { succeeded, revision, current: kv }
  }
}

function bytesOf (key: string): Buffer {
  return Buffer.from(key, 'latin1')
}

/** Opens a back end that connects on first use. @throws TypeError for malformed servers */
export function openEtcd (options: EtcdOptions): Backend {
  return new EtcdBackend(options)
}
