/**
 * The store on an etcd cluster. Every write is one transaction that compares the key's revision; every
 * read of the newest state is a quorum read.
 */
import type {
  Backend, BackendStatus, BackendWatch, CreateOptions, KeyValue, LeaseId, RangeRequest, RangeResult, ReadResult, Revision, WatchRequest, WriteOptions, WriteResult
} from '../backend.js'
import { StorageError } from '../errors.js'
import { checkGuard, checkKey, rangeOf, wholeSeconds } from '../key.js'
import { Connection, type ConnectionOptions } from './connection.js'
import { CallError, closedError, failureOf, isDenied } from './failures.js'
import { SharedRead } from './shared-read.js'
import type { RangeAnswer, RangeMessage, TxnAnswer } from './messages.js'
import { type Attempt, outcomeOf } from './outcome.js'
import { Watches } from './watches.js'

export interface EtcdOptions extends ConnectionOptions {
  /** The path that all keys are below: no right on any other is needed. '' by default: every key that begins with a slash. */
  readonly prefix?: string
  /** Milliseconds `status()` may take; 2,000 by default. */
  readonly healthcheckTimeout?: number
}

/** Items per message: a page is decoded in one turn of the loop. */
const PAGE = 500
/** A newest read that a compaction overtakes between its pages is begun anew this often. */
const RESTARTS = 3
/** Below the prefix, and the name of no resource: read for the newest revision, written where a watch has no other proof of its progress. */
const MARK = '.progress'

class EtcdBackend implements Backend {
  readonly name = 'etcd'
  readonly #connection: Connection
  readonly #scope: { readonly start: string, readonly end: string }
  readonly #mark: Buffer
  readonly #healthTime: number
  readonly #watches: Watches
  /** Those that want to know what was there before. */
  readonly #watchesOfHistory: Watches
  readonly #newest: SharedRead<Revision>
  /** The newest revision that any answer showed. */
  #seen: Revision = 0
  #compacted: Revision = 0
  #closed = false

  constructor (options: EtcdOptions) {
    this.#connection = new Connection(options)
    const path = `${options.prefix ?? ''}/`
    this.#scope = rangeOf(path)
    this.#mark = bytesOf(path + MARK)
    this.#healthTime = options.healthcheckTimeout ?? 2_000
    this.#newest = new SharedRead(() => this.#readRevision())
    const watches = (previous: boolean) => new Watches({
      connection: this.#connection,
      start: bytesOf(this.#scope.start),
      end: bytesOf(this.#scope.end),
      mark: () => this.#writeMark(),
      markKey: path + MARK,
      previous,
      newestSeen: () => this.#seen,
      revision: () => this.revision(),
      compacted: () => this.#compacted,
      noteCompacted: revision => this.#noteCompacted(revision)
    })
    this.#watches = watches(false)
    this.#watchesOfHistory = watches(true)
  }

  async get (key: string, revision: Revision = 0): Promise<ReadResult> {
    const answer = await this.#range({ key: bytesOf(key), revision })
    return { revision: revision === 0 ? answer.revision : revision, kv: answer.kvs[0] }
  }

  async list (request: RangeRequest): Promise<RangeResult> {
    for (let begun = 1; ; begun++) {
      try {
        return await this.#pages(request)
      } catch (error) {
        const overtaken = (request.revision ?? 0) === 0 && error instanceof StorageError && error.code === 'Compacted'
        if (!overtaken || begun === RESTARTS) throw error
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
    if (request.start < start || request.end > end) throw new TypeError(`a watch of ${request.start} to ${request.end} goes beyond ${start} to ${end}`)
    return (request.previous === false ? this.#watches : this.#watchesOfHistory).add(request)
  }

  async compact (revision: Revision): Promise<void> {
    try {
      await this.#connection.other('KV', 'compact', { revision: String(revision), physical: false })
    } catch (error) {
      // Somebody else was here before, or has gone further.
      if (!(error instanceof StorageError && error.code === 'Compacted')) throw error
      return
    }
    this.#noteCompacted(revision)
  }

  compactedRevision (): Revision {
    return this.#compacted
  }

  revision (): Promise<Revision> {
    return this.#closed ? Promise.reject(closedError()) : this.#newest.ask()
  }

  revisionNow (): undefined {
    return undefined
  }

  async status (): Promise<BackendStatus> {
    const [range, size] = await Promise.all([
      this.#range({ key: this.#mark, countOnly: true }, this.#healthTime),
      this.#connection.size(this.#healthTime).catch((error: unknown) => {
        // Newer versions tell it to their root user alone.
        if (isDenied(error)) return NaN
        throw error
      })
    ])
    return { size, revision: range.revision }
  }

  async lease (ttlSeconds: number): Promise<LeaseId> {
    const ttl = wholeSeconds(ttlSeconds)
    // Asked twice, the lease that nobody knows of ends by itself.
    const { ID } = await this.#connection.other<{ ID: string }>('Lease', 'leaseGrant', { TTL: String(ttl), ID: '0' })
    return ID
  }

  async close (): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#watches.close()
    this.#watchesOfHistory.close()
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
      const answer = await this.#range({ key, rangeEnd, limit: size, revision: at })
      at ||= answer.revision
      count ??= answer.count
      kvs.push(...answer.kvs)
      const last = answer.kvs.at(-1)
      if (!answer.more || last === undefined || kvs.length === limit) return { revision: at, kvs, more: answer.more, count }
      key = bytesOf(last.key + '\0')
    }
  }

  async #range (request: RangeMessage, milliseconds?: number): Promise<RangeAnswer> {
    const answer = await this.#connection.range(request, milliseconds)
    this.#note(answer.revision)
    return answer
  }

  async #readRevision (): Promise<Revision> {
    return (await this.#range({ key: this.#mark, countOnly: true })).revision
  }

  async #writeMark (): Promise<Revision> {
    const revision = await this.#connection.mark(this.#mark)
    this.#note(revision)
    return revision
  }

  #note (revision: Revision): void {
    if (revision > this.#seen) this.#seen = revision
  }

  #noteCompacted (revision: Revision): void {
    if (revision > this.#compacted) this.#compacted = revision
    this.#note(revision)
  }

  async #write (attempt: Attempt, options?: CreateOptions): Promise<WriteResult> {
    const { kind, key, value, expected } = attempt
    const lease = options?.lease
    const guard = options?.guard
    checkKey(key)
    if (!key.startsWith(this.#scope.start)) throw new TypeError(`a key is below ${this.#scope.start}: ${key}`)
    if (guard !== undefined) checkGuard(guard.key, guard.revision)
    if (lease !== undefined && !/^\d{1,19}$/.test(lease)) throw new StorageError('NotFound', `lease ${lease} does not exist`, { key })
    if (kind !== 'create' && expected <= 0) {
      // No key has such a revision; etcd would take it for 'does not exist'.
      const { revision, kv } = await this.get(key)
      return { succeeded: false, revision, current: kv }
    }
    const before = this.#seen
    let answer: TxnAnswer
    try {
      answer = await this.#connection.txn({ key: bytesOf(key), expected, value, lease, guard: guard && { key: bytesOf(guard.key), expected: guard.revision } })
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      if (!error.sent) throw failureOf(error)
      return await outcomeOf(this, attempt, before, error)
    }
    const { succeeded, revision, kv } = answer
    this.#note(revision)
    return succeeded ? { succeeded, revision } : { succeeded, revision, current: kv }
  }
}

function bytesOf (key: string): Buffer {
  return Buffer.from(key, 'latin1')
}

/** A back end on this cluster. Connects when it is first used. @throws TypeError for servers it can't make sense of */
export function openEtcd (options: EtcdOptions): Backend {
  return new EtcdBackend(options)
}
