/**
 * Connections to the servers of one etcd cluster. Reads, writes and watches use a thin gRPC transport; rare calls use
 * `etcd3` (see `etcd3-channel.ts`).
 *
 * After a failed call, the next call goes to the next server. Reads are retried here, writes never: a failed write
 * reports whether it may have been sent.
 */
import { encodeBatch, leasesIn, type BatchMessage } from './bulk-messages.js'
import { ClientCertificate, type ClientCertificateOptions } from './client-certificate.js'
import { Etcd3Channel, type Service } from './etcd3-channel.js'
import { beforeRestore, CallError, closedError, failureOf } from './failures.js'
import type { Revision } from '../backend.js'
import type { Compacted } from '../transfer/stores.js'
import { isStorageError, type StorageError } from '../errors.js'
import { Quorum } from './quorum.js'
import {
  decodeHasLeader, decodeSize, encodeRange, encodeEmpty, decodeRange, decodeTxn, encodeTxn, encodeMark, decodeRevision,
  type TxnMessage, type RangeMessage, type RangeAnswer, type TxnAnswer
} from './messages.js'
import { type Credentials, type MessageStream, type StreamListener, Transport } from './transport.js'

export interface ConnectionOptions extends ClientCertificateOptions {
  /** `scheme://host:port`, all of one cluster with the same scheme. */
  readonly servers: readonly string[]
  /** In PEM. */
  readonly ca?: string | Uint8Array
  /** Sockets that lead to servers, by server. */
  readonly sockets?: Readonly<Record<string, string>>
}

interface Endpoint {
  readonly transport: Transport
  readonly etcd3: Etcd3Channel
}

const CALL_TIMEOUT_MS = 10_000
/** Shorter, so that a write ends within 10 seconds even if its outcome must then be read. */
const TXN_TIMEOUT_MS = 7_000
const CONNECT_TIMEOUT_MS = 3_000
const RETRY_PAUSE_MS = 50
const STATUS_TIMEOUT_MS = 1_500

const statusOf = ({ transport }: Endpoint, milliseconds: number): Promise<Buffer> =>
  transport.call('/etcdserverpb.Maintenance/Status', encodeEmpty(), performance.now() + milliseconds)

export class Connection {
  readonly #endpoints: Endpoint[]
  readonly #quorum: Quorum
  #current = 0
  /** Difference between the revisions here and those of etcd. Set once, before anything else is called. */
  offset: Revision = 0
  /** When calls began to fail, milliseconds since 1970. Undefined while they succeed. */
  failingSince: number | undefined
  /** When calls began to fail to connect. */
  #unreachableSince: number | undefined
  #closed = false

  /** @throws TypeError if servers are missing, malformed or of mixed schemes */
  constructor (options: ConnectionOptions) {
    const { servers } = options
    const secure = servers.filter(server => server.startsWith('https://')).length
    if (servers.length === 0) throw new TypeError('etcd needs at least one server')
    if (secure !== 0 && secure !== servers.length) {
      throw new TypeError(`etcd servers are either all https or all not: ${servers.join(', ')}`)
    }
    for (const server of servers) {
      if (!/^(https?:\/\/)?[^/\s]+$/.test(server)) {
        throw new TypeError(`an etcd server is given as scheme://host:port, not '${server}'`)
      }
    }
    const credentials: Credentials | undefined = secure === 0
      ? undefined
      : { ca: options.ca === undefined ? undefined : Buffer.from(options.ca), client: new ClientCertificate(options) }
    this.#endpoints = servers.map(server => ({
      transport: new Transport(server, credentials, CONNECT_TIMEOUT_MS, options.sockets?.[server]),
      etcd3: new Etcd3Channel(server, credentials, options.sockets?.[server])
    }))
    const hasLeader = async (endpoint: Endpoint): Promise<boolean> =>
      decodeHasLeader(await statusOf(endpoint, STATUS_TIMEOUT_MS))
    this.#quorum = new Quorum(this.#endpoints.map(endpoint => () => hasLeader(endpoint)), options.note ?? (() => {}))
    // A random start spreads several API servers over the cluster.
    this.#current = Math.floor(Math.random() * servers.length)
  }

  /** A quorum read, or one at a past revision. Errors as `#read`. */
  async range (message: RangeMessage, milliseconds = CALL_TIMEOUT_MS): Promise<RangeAnswer> {
    return decodeRange(await this.#range(message, milliseconds), this.offset)
  }

  async #range (message: RangeMessage, milliseconds: number): Promise<Buffer> {
    if (message.revision !== undefined && message.revision !== 0 && message.revision <= this.offset) {
      throw beforeRestore(message.revision)
    }
    const bytes = encodeRange(message, this.offset)
    return await this.#read(milliseconds, async (endpoint, remaining) =>
      await endpoint.transport.call('/etcdserverpb.KV/Range', bytes, performance.now() + remaining))
  }

  /** As `range`, with the lease of each value, '0' for none. */
  async leased (
    message: RangeMessage, milliseconds = CALL_TIMEOUT_MS
  ): Promise<RangeAnswer & { readonly leases: readonly string[] }> {
    const bytes = await this.#range(message, milliseconds)
    return { ...decodeRange(bytes, this.offset), leases: leasesIn(bytes) }
  }

  /**
   * Several changes at once if the guard's key is as expected. Idempotent, so it may be retried. Errors as `#read`.
   * @returns false if the guard's key differs
   */
  async batch (message: BatchMessage, milliseconds = CALL_TIMEOUT_MS): Promise<boolean> {
    const bytes = encodeBatch(message, this.offset)
    return await this.#read(milliseconds, async (endpoint, remaining) =>
      decodeTxn(await endpoint.transport.call('/etcdserverpb.KV/Txn', bytes, performance.now() + remaining)).succeeded)
  }

  /**
   * Gives the free space of each server's database back to its disk, one server after the other. Each answers nothing
   * meanwhile.
   * @throws StorageError
   */
  async defragment (milliseconds: number, done: (file: Compacted) => void): Promise<void> {
    const sizeOf = async ({ transport }: Endpoint): Promise<number> => decodeSize(
      await transport.call('/etcdserverpb.Maintenance/Status', encodeEmpty(), performance.now() + CALL_TIMEOUT_MS)
    )
    for (const endpoint of this.#endpoints) {
      try {
        const before = await sizeOf(endpoint)
        await endpoint.etcd3.call('Maintenance', 'defragment', {}, milliseconds)
        done({ place: endpoint.transport.server, before, after: await sizeOf(endpoint) })
      } catch (error) {
        throw error instanceof CallError ? failureOf(error) : error
      }
    }
  }

  /** Database size in bytes of the server that responds. Errors as `#read`. */
  async size (milliseconds = CALL_TIMEOUT_MS): Promise<number> {
    const sizeOf = async (endpoint: Endpoint, remaining: number): Promise<number> =>
      decodeSize(await statusOf(endpoint, remaining))
    return await this.#read(milliseconds, sizeOf, false)
  }

  /** Writes a key without a value. Idempotent, so it may be retried. Errors as `#read`. @returns its revision */
  async mark (key: Uint8Array, milliseconds = CALL_TIMEOUT_MS): Promise<Revision> {
    const bytes = encodeMark(key)
    return await this.#read(milliseconds, async (endpoint, remaining) => decodeRevision(
      await endpoint.transport.call('/etcdserverpb.KV/Put', bytes, performance.now() + remaining), this.offset
    ))
  }

  /**
   * Errors as `#read`.
   * @param physical whether to wait until the space is free
   * @returns false if it was compacted this far before
   */
  async compact (revision: Revision, physical = false, milliseconds = CALL_TIMEOUT_MS): Promise<boolean> {
    try {
      await this.other(
        'KV', 'compact', { revision: String(Math.max(1, revision - this.offset)), physical }, milliseconds
      )
      return true
    } catch (error) {
      if (isStorageError(error, 'Compacted')) return false
      throw error
    }
  }

  /** A call through `etcd3` that may be retried. Errors as `#read`. */
  async other<Answer> (
    service: Service, method: string, payload: unknown, milliseconds = CALL_TIMEOUT_MS
  ): Promise<Answer> {
    // The protocol defines the type of the response.
    return await this.#read(milliseconds, async (endpoint, remaining) =>
      await endpoint.etcd3.call(service, method, payload, remaining) as Answer)
  }

  /**
   * A transaction, sent at most once.
   * @throws CallError whose `sent` states whether it may have had an effect; StorageError 'Closed'
   */
  async txn (message: TxnMessage): Promise<TxnAnswer> {
    const bytes = encodeTxn(message, this.offset)
    const began = performance.now()
    for (let attempts = 1; ; attempts++) {
      const endpoint = this.#endpoint()
      try {
        const answer = await endpoint.transport.call('/etcdserverpb.KV/Txn', bytes, began + TXN_TIMEOUT_MS)
        this.#succeeded()
        return decodeTxn(answer, this.offset)
      } catch (error) {
        if (!(error instanceof CallError)) throw error
        if (error.transient) this.#failed(endpoint, began)
        if (this.#closed && !error.sent) throw closedError()
        // Retry only what was certainly not sent.
        if (error.sent || !error.transient || this.#shouldGiveUp(began + CONNECT_TIMEOUT_MS, attempts)) throw error
        await new Promise(resolve => setTimeout(resolve, RETRY_PAUSE_MS))
      }
    }
  }

  /**
   * Opens a watch stream to the current server, which ends it when it loses its cluster. `moveOn` makes the next call
   * use the next server.
   * @throws CallError, StorageError 'Closed'
   */
  async watchStream (listener: StreamListener): Promise<{ stream: MessageStream, moveOn: () => void }> {
    const endpoint = this.#endpoint()
    const moveOn = () => this.#moveOn(endpoint)
    try {
      const stream = await endpoint.transport.open('/etcdserverpb.Watch/Watch', listener, { hasleader: 'true' })
      this.#succeeded(false)
      return { stream, moveOn }
    } catch (error) {
      moveOn()
      throw error
    }
  }

  close (): void {
    this.#closed = true
    for (const { transport, etcd3 } of this.#endpoints) {
      transport.close()
      etcd3.close()
    }
  }

  /**
   * Retries a call on all servers in turn until the timeout.
   * @param needsQuorum false for what a server answers by itself
   * @throws StorageError 'Compacted', 'FutureRevision', 'NotFound', 'Unavailable', 'Closed'
   */
  async #read<Answer> (
    milliseconds: number, attempt: (endpoint: Endpoint, remaining: number) => Promise<Answer>, needsQuorum = true
  ): Promise<Answer> {
    const began = performance.now()
    const deadline = began + milliseconds
    const connectDeadline = began + Math.min(milliseconds, CONNECT_TIMEOUT_MS)
    for (let attempts = 1; ; attempts++) {
      const endpoint = this.#endpoint()
      try {
        const answer = await attempt(endpoint, deadline - performance.now())
        this.#succeeded(needsQuorum)
        return answer
      } catch (error) {
        if (this.#closed) throw closedError()
        if (!(error instanceof CallError)) throw error
        if (!error.transient) throw failureOf(error)
        this.#failed(endpoint, began)
        const isOver = error.sent
          ? performance.now() + RETRY_PAUSE_MS >= deadline
          : this.#shouldGiveUp(connectDeadline, attempts)
        if (isOver) throw this.failure(error)
        await new Promise(resolve => setTimeout(resolve, RETRY_PAUSE_MS))
      }
    }
  }

  /** The failure of a call that was not answered. */
  failure (error: CallError): StorageError {
    return failureOf(error, { since: this.failingSince, why: this.#quorum.lost })
  }

  #succeeded (hadQuorum = true): void {
    this.#unreachableSince = this.failingSince = undefined
    if (hadQuorum) this.#quorum.succeeded()
  }

  #failed (endpoint: Endpoint, began: number): void {
    this.failingSince ??= Date.now() - (performance.now() - began)
    this.#moveOn(endpoint)
    this.#quorum.failed()
  }

  /**
   * Decides after a failed connection whether to give up. Short outages are waited out; during longer ones each call
   * tries every server once and then fails immediately.
   */
  #shouldGiveUp (deadline: number, attempts: number): boolean {
    const soon = performance.now() + RETRY_PAUSE_MS
    this.#unreachableSince ??= soon - RETRY_PAUSE_MS
    return soon >= deadline ||
      (attempts >= this.#endpoints.length && soon >= this.#unreachableSince + CONNECT_TIMEOUT_MS)
  }

  #endpoint (): Endpoint {
    if (this.#closed) throw closedError()
    const endpoint = this.#endpoints[this.#current]
    if (endpoint === undefined) throw new RangeError('no such server')
    return endpoint
  }

  /** Switches to the next server, unless another call already has. */
  #moveOn (endpoint: Endpoint): void {
    if (this.#endpoints[this.#current] === endpoint) this.#current = (this.#current + 1) % this.#endpoints.length
  }
}
