/**
 * Fills the empty range below a prefix of an etcd. Meanwhile the format key (`format.ts`) contains `restoring`, which
 * every server refuses; each transaction compares it, so two restores never mix. The next restore removes an
 * interrupted one.
 *
 * etcd's revisions cannot be set, so objects get new ones. An offset in the format raises the revisions that clients
 * see above all those of the old store. Revisions up to the last one of the restore are compacted.
 */
import { randomUUID } from 'node:crypto'
import type { KeyValue, Revision } from '../backend.js'
import {
  BATCH_BYTES, bytesOf, firstRevision, expiresSoon, type StoreReader, type Lease, type StoredObject, type StoreWriter
} from '../transfer/stores.js'
import { StorageError } from '../errors.js'
import { checkKey, rangeOf } from '../key.js'
import type { BatchMessage } from './bulk-messages.js'
import { Connection, type ConnectionOptions } from './connection.js'
import { CallError, failureOf } from './failures.js'
import type { Comparison } from './messages.js'
import { refuseServers } from './presence.js'
import { faultOfMark, FORMAT, FORMAT_KEY, formatOf, formatText, offsetBefore, restoringText } from './format.js'

export interface NewEtcdStoreOptions extends ConnectionOptions {
  /** The path above all keys. */
  readonly prefix: string
}

/** Below etcd's own limit of 128, with the comparison. */
const BATCH_OBJECTS = 100
const BATCHES_AT_ONCE = 4
/** A batch, or the deletion of all that an interrupted restore has put. */
const BATCH_TIMEOUT_MS = 60_000
/**
 * Objects that are put later than this after a lease was granted get a new lease, so that it does not end before they
 * are put.
 */
const LEASE_REUSE_MS = 30_000
/** Minimum time to live of a new lease, because the end of the old one has come nearer. */
const MIN_LEASE_SECONDS = 60

type Changes = Omit<BatchMessage, 'guard'>
type Put = NonNullable<Changes['puts']>[number]

/** Offsets of the range before and after the restore. */
interface Offsets { readonly before: number, readonly after: number }

/** @throws StorageError 'Unavailable' if the range holds a store, or servers use it */
export async function newEtcdStore (reader: StoreReader, options: NewEtcdStoreOptions): Promise<StoreWriter> {
  const connection = new Connection(options)
  try {
    const { prefix } = options
    const key = Buffer.from(`${prefix}/${FORMAT_KEY}`, 'latin1')
    const { kvs: [mark], revision } = await connection.range({ key })
    const interrupted = offsetBefore(mark)
    const format = formatOf(mark)
    if (interrupted === undefined && (format === undefined || format.format > FORMAT)) {
      throw new StorageError('Unavailable', faultOfMark(prefix, mark, FORMAT))
    }
    await refuseServers(connection, prefix)
    const before = interrupted ?? format?.offset ?? 0
    const expected = await replaceMark(connection, key, mark, restoringText(randomUUID(), before))
    const store = new NewEtcdStore(connection, prefix, { key, expected }, {
      before, after: Math.max(before, firstRevision(reader) - revision)
    })
    if (interrupted !== undefined) await store.clear()
    else if (!await store.isEmpty()) {
      await store.settle(before)
      throw new StorageError(
        'Unavailable', `the range below ${prefix} holds a store already: name another --etcd-prefix, or delete it`
      )
    }
    return store
  } catch (error) {
    connection.close()
    throw error
  }
}

/** @returns its revision */
async function replaceMark (
  connection: Connection, key: Uint8Array, mark: KeyValue | undefined, text: string
): Promise<Revision> {
  try {
    const { succeeded, revision } = await connection
      .txn({ key, expected: mark?.modRevision ?? 0, value: Buffer.from(text), lease: undefined })
    if (succeeded) return revision
  } catch (error) {
    throw error instanceof CallError ? failureOf(error) : error
  }
  throw taken()
}

const taken = (): StorageError => new StorageError(
  'Unavailable', 'another server or restore has begun to use the range: name another --etcd-prefix, or end that one'
)

class NewEtcdStore implements StoreWriter {
  readonly #connection: Connection
  readonly #prefix: string
  /** That the mark of this restore is still there. */
  readonly #mark: Comparison
  readonly #offsets: Offsets
  readonly #leases = new Map<Lease, { readonly id: Promise<string>, readonly at: number }>()
  /** Objects put. */
  #objects = 0
  #closed = false

  constructor (connection: Connection, prefix: string, mark: Comparison, offsets: Offsets) {
    this.#connection = connection
    this.#prefix = prefix
    this.#mark = mark
    this.#offsets = offsets
  }

  async isEmpty (): Promise<boolean> {
    const { start, end } = rangeOf(`${this.#prefix}/`)
    const { kvs } = await this.#connection
      .range({ key: Buffer.from(start, 'latin1'), rangeEnd: Buffer.from(end, 'latin1'), limit: 10 })
    return kvs.every(({ key }) => key.startsWith('.', start.length))
  }

  /** Deletes all but the mark. */
  async clear (): Promise<void> {
    const { start, end } = rangeOf(`${this.#prefix}/`)
    const after = Buffer.concat([this.#mark.key, Buffer.of(0)])
    await this.#batch({
      deletes: [{ key: Buffer.from(start, 'latin1'), rangeEnd: this.#mark.key }, {
        key: after, rangeEnd: Buffer.from(end, 'latin1')
      }]
    })
  }

  /** Replaces the mark by the format, which lets servers in. */
  async settle (offset: number): Promise<void> {
    const value = Buffer.from(formatText({ format: FORMAT, offset }))
    if (await this.#tryBatch({ puts: [{ key: this.#mark.key, value, lease: undefined }] })) return
    // If only the response was lost, the mark has already been replaced.
    const { kvs: [mark] } = await this.#connection.range({ key: this.#mark.key })
    if (mark === undefined || !value.equals(mark.value)) throw taken()
  }

  async put (objects: readonly StoredObject[]): Promise<void> {
    const now = Date.now()
    const scope = `${this.#prefix}/`
    const batches: StoredObject[][] = []
    let bytes = Infinity
    for (const object of objects) {
      if (expiresSoon(object.lease, now)) continue
      checkKey(object.key)
      if (!object.key.startsWith(scope) || object.key.startsWith('.', scope.length)) {
        throw new StorageError(
          'Unavailable',
          `the key ${object.key} is not below --etcd-prefix=${this.#prefix}: name the prefix of the contents`
        )
      }
      bytes += bytesOf(object)
      if (bytes > BATCH_BYTES || (batches.at(-1)?.length ?? 0) >= BATCH_OBJECTS) {
        batches.push([])
        bytes = bytesOf(object)
      }
      batches.at(-1)?.push(object)
    }
    const next = batches.values()
    await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, async () => {
      for (const batch of next) await this.#putAll(batch)
    }))
  }

  async finish (): Promise<Revision> {
    await this.#refuseOthers()
    const { revision } = await this.#connection.range({ key: this.#mark.key })
    await this.#connection.compact(revision, false, BATCH_TIMEOUT_MS)
    await this.settle(this.#offsets.after)
    this.#close()
    return revision + this.#offsets.after
  }

  async discard (): Promise<void> {
    if (this.#closed) return
    try {
      await this.clear()
      await this.settle(this.#offsets.before)
    } finally {
      this.#close()
    }
  }

  /** A server that saw the range empty just before it was marked may still write. */
  async #refuseOthers (): Promise<void> {
    await refuseServers(this.#connection, this.#prefix)
    const { start, end } = rangeOf(`${this.#prefix}/`)
    const count = async (from: string, to: string): Promise<number> =>
      (await this.#connection.range({
        key: Buffer
          .from(from, 'latin1'), rangeEnd: Buffer.from(to, 'latin1'), countOnly: true
      }, BATCH_TIMEOUT_MS)).count
    const keys = await count(start, end) - await count(`${start}.`, `${start}/`)
    if (keys > this.#objects) {
      throw new StorageError(
        'Unavailable',
        `a server has begun to use the range below ${this.#prefix}, which has ${keys - this.#objects} objects of ` +
          'others: end it, and run this again'
      )
    }
  }

  async #putAll (objects: readonly StoredObject[]): Promise<void> {
    const puts: Put[] = []
    for (const { key, value, lease } of objects) {
      puts.push({
        key: Buffer.from(key, 'latin1'), value, lease: lease === undefined ? undefined : await this.#lease(lease)
      })
    }
    await this.#batch({ puts })
    this.#objects += puts.length
  }

  async #batch (changes: Changes): Promise<void> {
    if (!await this.#tryBatch(changes)) throw taken()
  }

  async #tryBatch (changes: Changes): Promise<boolean> {
    return await this.#connection
      .batch({ guard: this.#mark, ...changes }, BATCH_TIMEOUT_MS)
  }

  #lease (lease: Lease): Promise<string> {
    const granted = this.#leases.get(lease)
    if (granted !== undefined && Date.now() - granted.at < LEASE_REUSE_MS) return granted.id
    const seconds = Math.max(MIN_LEASE_SECONDS, Math.ceil((lease.expires - Date.now()) / 1000))
    const id = this.#connection
      .other<{ ID: string }>('Lease', 'leaseGrant', { TTL: String(seconds), ID: '0' }, BATCH_TIMEOUT_MS)
      .then(({ ID }) => ID)
    this.#leases.set(lease, { id, at: Date.now() })
    return id
  }

  #close (): void {
    this.#closed = true
    this.#connection.close()
  }
}
