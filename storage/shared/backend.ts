/**
 * The back end of a process whose store is opened by another process of the same server. Reads are consistent: the
 * revision of the newest acknowledged write comes from a file that all processes share, or from a call. A write is
 * never sent twice: when the connection is lost, its outcome is read from the store, as over etcd. Calls wait a short
 * time while the process of the store restarts.
 */
import { connect } from 'node:net'
import type {
  Backend, BackendStatus, BackendWatch, CreateOptions, LeaseId, RangeRequest, RangeResult, ReadResult, Revision,
  WatchRequest, WriteOptions, WriteResult
} from '../backend.js'
import { isStorageError, StorageError } from '../errors.js'
import { checkGuards, checkKey, wholeSeconds } from '../key.js'
import { OUTCOME_TIMEOUT_MS, outcomeOf, type Attempt } from '../outcome.js'
import { type Frame, type FrameWriter, Kind } from './frames.js'
import { FrameConnection } from './frame-connection.js'
import { RevisionFileReader } from './revision-file.js'
import { socketIn, type SocketPath } from './socket-path.js'
import { Watches } from './watches.js'

/** Milliseconds that a call waits for a connection, and between attempts to connect. */
const PATIENCE = 1000
const RETRY = 20
/** Milliseconds that opening waits: meanwhile the other process checks the pages of the store and opens it. */
const OPENING = 60_000
/** Maximum objects of one answer. */
const PAGE = 200

interface Call {
  readonly take: (frame: Frame) => void
  readonly fail: (error: Error) => void
}

const closedError = (): StorageError => new StorageError('Closed', 'the store is closed')

/** The connection was lost after the call had been sent. */
class ConnectionLost extends Error {}

/**
 * @param directory of the store, which another process serves there
 * @throws StorageError 'Unavailable' if it is not served in time
 */
export async function openShared (directory: string, patience = OPENING): Promise<Backend> {
  const backend = new SharedBackend(directory)
  try {
    await backend.connected(patience)
  } catch (error) {
    await backend.close()
    throw error
  }
  return backend
}

class SharedBackend implements Backend {
  name = 'embedded'
  readonly shared = true
  readonly #directory: string
  readonly #watches = new Watches()
  readonly #calls = new Map<number, Call>()
  #last = 0
  #connection: FrameConnection | undefined
  #revisionFile: RevisionFileReader | undefined
  #compacted: Revision = 0
  #shortage: StorageError | undefined
  #waiters: Array<() => void> = []
  #pendingRevision: Promise<Revision> | undefined
  #closing: Promise<void> | undefined
  #lostAt: number | undefined

  constructor (directory: string) {
    this.#directory = directory
    this.#connect()
  }

  /** Resolves to the connection. @throws StorageError 'Unavailable' */
  async connected (patience = PATIENCE): Promise<FrameConnection> {
    const until = performance.now() + patience
    while (this.#connection === undefined) {
      const left = until - performance.now()
      if (this.#closing !== undefined) throw closedError()
      if (left <= 0) {
        throw new StorageError('Unavailable', 'the process of the store cannot be reached', { since: this.#lostAt })
      }
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, left)
        this.#waiters.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    return this.#connection
  }

  async get (key: string, revision: Revision = 0): Promise<ReadResult> {
    return await this.#read(Kind.get, frame =>
      frame.ascii(key).number(revision), frame => ({ revision: frame.revision(), kv: frame.optional() }))
  }

  async list (request: RangeRequest): Promise<RangeResult> {
    for (;;) {
      try {
        return await this.#list(request)
      } catch (error) {
        // The newest state was compacted between two pages.
        if ((request.revision ?? 0) !== 0 || !isStorageError(error, 'Compacted')) throw error
      }
    }
  }

  /** In pages, so that no answer holds the event loop of either process. */
  async #list ({ start, end, limit = 0, revision = 0 }: RangeRequest): Promise<RangeResult> {
    const page = async (from: string, wanted: number, at: Revision): Promise<RangeResult> => await this.#read(Kind.list,
      frame => frame.ascii(from).ascii(end).number(wanted).number(at),
      frame => ({
        revision: frame.revision(), more: frame.byte() === 1, count: frame.revision(),
        kvs: Array.from({ length: frame.revision() }, () => frame.keyValue())
      }))
    const wanted = (have: number): number => limit === 0 ? PAGE : Math.min(PAGE, limit - have)
    const first = await page(start, wanted(0), revision)
    const { kvs, count } = first
    let { more } = first
    for (const most = limit === 0 ? Infinity : limit; more && kvs.length < most;) {
      const next = await page(`${kvs.at(-1)?.key ?? start}\0`, wanted(kvs.length), first.revision)
      kvs.push(...next.kvs)
      more = next.more
    }
    return { revision: first.revision, kvs, more, count }
  }

  async count (start: string, end: string): Promise<number> {
    return await this.#read(Kind.count, frame => frame.ascii(start).ascii(end), frame => frame.revision())
  }

  async create (key: string, value: Uint8Array, { guards = [], ...options }: CreateOptions = {}): Promise<WriteResult> {
    checkKey(key)
    checkGuards(guards)
    return await this.#write(Kind.create, { kind: 'create', key, value, expected: 0 }, frame => {
      optionsOf(frame.ascii(key).value(value), options).number(guards.length)
      for (const guard of guards) frame.ascii(guard.key).number(guard.revision)
    })
  }

  async update (key: string, value: Uint8Array, expected: Revision, options: WriteOptions = {}): Promise<WriteResult> {
    checkKey(key)
    return await this.#write(Kind.update, { kind: 'update', key, value, expected }, frame => {
      optionsOf(frame.ascii(key).value(value).number(expected), options)
    })
  }

  async delete (key: string, expected: Revision): Promise<WriteResult> {
    checkKey(key)
    return await this.#write(Kind.delete, { kind: 'delete', key, value: undefined, expected }, frame => {
      frame.ascii(key).number(expected)
    })
  }

  watch (request: WatchRequest): BackendWatch { return this.#watches.add(request) }

  async compact (revision: Revision): Promise<void> {
    await this.#read(Kind.compact, frame => frame.number(revision), () => {})
    this.#compacted = Math.max(this.#compacted, revision)
  }

  compactedRevision (): Revision { return this.#compacted }

  revision (): Promise<Revision> {
    const shared = this.#closing === undefined ? this.#sharedRevision() : undefined
    if (shared !== undefined) return this.#watches.reached(shared).then(() => shared) // then watches know it too
    // Callers share a call that has not been sent yet.
    if (this.#pendingRevision === undefined) {
      const over = (): void => { if (this.#pendingRevision === pending) this.#pendingRevision = undefined }
      const pending = this.#pendingRevision = this.#read(Kind.revision, frame => frame, frame => frame.revision(), over)
      pending.catch(over)
    }
    return this.#pendingRevision
  }

  revisionNow (): Revision | undefined {
    const { position, isWhole } = this.#watches
    if (!isWhole) return undefined
    const newest = this.#sharedRevision()
    return newest !== undefined && newest <= position ? position : undefined
  }

  delivered (): Revision | undefined { return this.#watches.isWhole ? this.#watches.position : undefined }

  async status (): Promise<BackendStatus> {
    return await this.#read(Kind.status, frame =>
      frame, frame => ({ size: frame.revision(), revision: frame.revision() }))
  }

  shortage (): StorageError | undefined { return this.#shortage }

  async lease (ttlSeconds: number): Promise<LeaseId> {
    const seconds = wholeSeconds(ttlSeconds)
    // an unused lease ends by itself
    return await this.#read(Kind.lease, frame => frame.number(seconds), frame => frame.ascii())
  }

  close (): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close (): Promise<void> {
    const connection = this.#connection
    await Promise.resolve() // calls then see that it is closing
    for (const wake of this.#waiters.splice(0)) wake()
    while (this.#calls.size > 0 && connection?.isOpen === true) await new Promise(resolve => { setTimeout(resolve, 1) })
    this.#watches.close(closedError())
    connection?.end()
    this.#revisionFile?.close()
  }

  /** The newest revision without a call, while connected: a store that has ended acknowledges no writes. */
  #sharedRevision (): Revision | undefined {
    return this.#connection === undefined ? undefined : this.#revisionFile?.read()
  }

  #connect (): void {
    if (this.#closing !== undefined) return
    const again = (): void => { setTimeout(() => { this.#connect() }, RETRY).unref() }
    let place: SocketPath
    try {
      place = socketIn(this.#directory)
    } catch {
      return again() // the store has not created its directory yet
    }
    const socket = connect(place.path)
    const connection: FrameConnection = new FrameConnection(socket, {
      frame: frame => { this.#take(frame, connection) },
      closed: () => {
        place.close()
        if (this.#connection === connection) this.#lost()
        again()
      }
    })
  }

  #lost (): void {
    this.#connection = undefined
    this.#lostAt = Date.now()
    this.#watches.disconnected()
    this.#revisionFile?.close()
    this.#revisionFile = undefined
    const error = new ConnectionLost('the process of the store ended or closed the connection')
    for (const { fail } of [...this.#calls.values()]) fail(error)
    this.#calls.clear()
  }

  #take (frame: Frame, connection: FrameConnection): void {
    switch (frame.kind) {
      case Kind.hello: {
        this.name = frame.text()
        const revision = frame.revision()
        this.#compacted = Math.max(this.#compacted, frame.revision())
        this.#shortage = undefined
        this.#revisionFile = new RevisionFileReader(this.#directory)
        this.#connection = connection
        this.#watches.connected(connection, revision)
        for (const wake of this.#waiters.splice(0)) wake()
        return
      }
      case Kind.result:
      case Kind.failure: {
        const call = this.#calls.get(frame.number)
        this.#calls.delete(frame.number)
        if (frame.kind === Kind.result) call?.take(frame)
        else call?.fail(frame.error())
        return
      }
      case Kind.compacted:
        this.#compacted = Math.max(this.#compacted, frame.revision())
        return
      case Kind.shortage:
        this.#shortage = frame.byte() === 0 ? undefined : frame.error()
        return
      default: this.#watches.take(frame)
    }
  }

  /** @throws ConnectionLost */
  async #call<T> (
    kind: Kind, ask: (frame: FrameWriter) => unknown, answer: (frame: Frame) => T, beforeSending?: () => void
  ): Promise<T> {
    if (this.#closing !== undefined) throw closedError()
    const connection = this.#connection ?? await this.connected()
    return await new Promise((resolve, reject) => {
      const number = this.#last = (this.#last + 1) % 2 ** 32
      this.#calls.set(number, { take: frame => { resolve(answer(frame)) }, fail: reject })
      const frame = connection.begin(kind, number)
      ask(frame)
      frame.end()
      if (beforeSending !== undefined) connection.beforeSending(beforeSending)
    })
  }

  /** Repeats a call once if the connection is lost; only for calls that change nothing. */
  async #read<T> (
    kind: Kind, ask: (frame: FrameWriter) => unknown, answer: (frame: Frame) => T, beforeSending?: () => void
  ): Promise<T> {
    try {
      return await this.#call(kind, ask, answer, beforeSending)
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error
    }
    try {
      return await this.#call(kind, ask, answer)
    } catch (error) {
      throw error instanceof ConnectionLost
        ? new StorageError('Unavailable', error.message, { since: this.#lostAt, cause: error })
        : error
    }
  }

  async #write (kind: Kind, attempt: Attempt, ask: (frame: FrameWriter) => void): Promise<WriteResult> {
    const before = this.#watches.position
    try {
      return await this.#call(kind, ask, frame => {
        const [succeeded, revision] = [frame.byte() === 1, frame.revision()]
        return succeeded ? { succeeded, revision } : { succeeded, revision, current: frame.optional() }
      })
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error
      await this.connected(OUTCOME_TIMEOUT_MS).catch(() => {}) // the outcome is unknown then
      return await outcomeOf(this, attempt, before, error)
    }
  }
}

const optionsOf = (frame: FrameWriter, { lease = '', deleting = false }: WriteOptions): FrameWriter =>
  frame.ascii(lease).byte(deleting ? 1 : 0)
