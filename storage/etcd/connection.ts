/**
 * The lines to the servers of one etcd cluster. Reads, writes and watches go over a thin transport of our
 * own; `etcd3` does the rest (see `etcd3-line.ts`).
 *
 * A call goes to one server; when that one fails, the next call goes to the next. Reads may be repeated
 * here, writes never: a write that failed says whether it can have left this process.
 */
import { Etcd3Line, type Service } from './etcd3-line.js'
import { CallError, closedError, failureOf } from './failures.js'
import type { Revision } from '../backend.js'
import type { RangeAnswer, RangeMessage, TxnAnswer, TxnMessage } from './messages.js'
import { decodeRange, decodeRevision, decodeSize, decodeTxn, encodeEmpty, encodeMark, encodeRange, encodeTxn } from './messages.js'
import { type Credentials, type MessageStream, type StreamListener, Transport } from './transport.js'

export interface ConnectionOptions {
  /** `scheme://host:port`, all of one cluster and all of one scheme. */
  readonly servers: readonly string[]
  /** PEM texts. */
  readonly ca?: string | Uint8Array
  readonly certificate?: string | Uint8Array
  readonly key?: string | Uint8Array
}

interface Line {
  readonly transport: Transport
  readonly etcd3: Etcd3Line
}

/** Milliseconds. */
const CALL_TIME = 10_000
const CONNECT_TIME = 3_000
const PAUSE = 50

export class Connection {
  readonly #lines: Line[]
  #current = 0
  /** Since when no call has got through to a server. */
  #unreachable: number | undefined
  #closed = false

  /** @throws TypeError when the servers are missing, of mixed schemes or not understood */
  constructor (options: ConnectionOptions) {
    const { servers } = options
    const secure = servers.filter(server => server.startsWith('https://')).length
    if (servers.length === 0) throw new TypeError('etcd needs at least one server')
    if (secure !== 0 && secure !== servers.length) throw new TypeError(`etcd servers are either all https or all not: ${servers.join(', ')}`)
    for (const server of servers) if (!/^(https?:\/\/)?[^/\s]+$/.test(server)) throw new TypeError(`an etcd server is given as scheme://host:port, not '${server}'`)
    const credentials: Credentials = secure === 0 ? {} : { ca: pem(options.ca), cert: pem(options.certificate), key: pem(options.key) }
    this.#lines = servers.map(server => ({
      transport: new Transport(server, credentials, CONNECT_TIME),
      etcd3: new Etcd3Line(server, secure === 0 ? undefined : credentials)
    }))
    // So that many servers of ours do not all use the first.
    this.#current = Math.floor(Math.random() * servers.length)
  }

  /** A quorum read, or one at a past revision. Errors as `#read`. */
  async range (message: RangeMessage, milliseconds = CALL_TIME): Promise<RangeAnswer> {
    const bytes = encodeRange(message)
    return await this.#read(milliseconds, async (line, left) => decodeRange(await line.transport.call('/etcdserverpb.KV/Range', bytes, performance.now() + left)))
  }

  /** Bytes of the database of the server that answers. Errors as `#read`. */
  async size (milliseconds = CALL_TIME): Promise<number> {
    return await this.#read(milliseconds, async (line, left) =>
      decodeSize(await line.transport.call('/etcdserverpb.Maintenance/Status', encodeEmpty(), performance.now() + left)))
  }

  /** Writes a key without a value. It may be repeated: each time is as good as the first. Errors as `#read`. @returns its revision */
  async mark (key: Uint8Array, milliseconds = CALL_TIME): Promise<Revision> {
    const bytes = encodeMark(key)
    return await this.#read(milliseconds, async (line, left) => decodeRevision(await line.transport.call('/etcdserverpb.KV/Put', bytes, performance.now() + left)))
  }

  /** A call by way of `etcd3` that may be repeated. Errors as `#read`. */
  async other<Answer> (service: Service, method: string, payload: unknown, milliseconds = CALL_TIME): Promise<Answer> {
    // The protocol decides the shape of the answer.
    return await this.#read(milliseconds, async (line, left) => await line.etcd3.call(service, method, payload, left) as Answer)
  }

  /**
   * A transaction, sent at most once.
   * @throws CallError whose `sent` says whether it can have had an effect; StorageError 'Closed'
   */
  async txn (message: TxnMessage): Promise<TxnAnswer> {
    const bytes = encodeTxn(message)
    const began = performance.now()
    for (let attempts = 1; ; attempts++) {
      const line = this.#line()
      try {
        const answer = await line.transport.call('/etcdserverpb.KV/Txn', bytes, began + CALL_TIME)
        this.#unreachable = undefined
        return decodeTxn(answer)
      } catch (error) {
        if (!(error instanceof CallError)) throw error
        if (error.transient) this.#leave(line)
        if (this.#closed && !error.sent) throw closedError()
        // Only what has certainly not left may be tried once more.
        if (error.sent || !error.transient || this.#hopeless(began + CONNECT_TIME, attempts)) throw error
        await new Promise(resolve => setTimeout(resolve, PAUSE))
      }
    }
  }

  /**
   * A watch stream to the current server, which ends it when it has lost its cluster. `leave` makes the
   * next call go to the next server.
   * @throws CallError, StorageError 'Closed'
   */
  async watchStream (listener: StreamListener): Promise<{ stream: MessageStream, leave: () => void }> {
    const line = this.#line()
    const leave = () => this.#leave(line)
    try {
      const stream = await line.transport.open('/etcdserverpb.Watch/Watch', listener, { hasleader: 'true' })
      this.#unreachable = undefined
      return { stream, leave }
    } catch (error) {
      leave()
      throw error
    }
  }

  close (): void {
    this.#closed = true
    for (const { transport, etcd3 } of this.#lines) {
      transport.close()
      etcd3.close()
    }
  }

  /**
   * Repeats a call, on all servers in turn, until the time is over.
   * @throws StorageError 'Compacted', 'FutureRevision', 'NotFound', 'Unavailable', 'Closed'
   */
  async #read<Answer> (milliseconds: number, attempt: (line: Line, left: number) => Promise<Answer>): Promise<Answer> {
    const deadline = performance.now() + milliseconds
    const connected = performance.now() + Math.min(milliseconds, CONNECT_TIME)
    for (let attempts = 1; ; attempts++) {
      const line = this.#line()
      try {
        const answer = await attempt(line, deadline - performance.now())
        this.#unreachable = undefined
        return answer
      } catch (error) {
        if (this.#closed) throw closedError()
        if (!(error instanceof CallError)) throw error
        if (!error.transient) throw failureOf(error)
        this.#leave(line)
        if (error.sent ? performance.now() + PAUSE >= deadline : this.#hopeless(connected, attempts)) throw failureOf(error)
        await new Promise(resolve => setTimeout(resolve, PAUSE))
      }
    }
  }

  /**
   * Asked when a server could not be reached: whether to give up. A short absence is waited out; once it has
   * lasted, every call asks each server and then fails at once rather than wait in turn.
   */
  #hopeless (deadline: number, attempts: number): boolean {
    const soon = performance.now() + PAUSE
    this.#unreachable ??= soon - PAUSE
    return soon >= deadline || (attempts >= this.#lines.length && soon >= this.#unreachable + CONNECT_TIME)
  }

  #line (): Line {
    if (this.#closed) throw closedError()
    const line = this.#lines[this.#current]
    if (line === undefined) throw new RangeError('no such server')
    return line
  }

  /** The next call goes to the next server, unless another call has moved on already. */
  #leave (line: Line): void {
    if (this.#lines[this.#current] === line) this.#current = (this.#current + 1) % this.#lines.length
  }
}

function pem (text: string | Uint8Array | undefined): Buffer | undefined {
  return text === undefined ? undefined : Buffer.from(text)
}
