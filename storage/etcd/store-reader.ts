/**
 * The state below a prefix of an etcd at one revision, in pages. Reading fails if that revision is compacted meanwhile.
 */
import type { Revision } from '../backend.js'
import { BATCH_BYTES, bytesOf, type StoreReader, type Lease, type StoredObject } from '../transfer/stores.js'
import { isStorageError, StorageError } from '../errors.js'
import { rangeOf } from '../key.js'
import { Connection, type ConnectionOptions } from './connection.js'
import { faultOfMark, FORMAT, FORMAT_KEY, formatOf } from './format.js'
import { refuseServers } from './presence.js'

export interface EtcdReaderOptions extends ConnectionOptions {
  /** The path above all keys. */
  readonly prefix: string
}

/** Objects of the first page; later ones are as many as make a batch. */
const FIRST_PAGE = 100
const MAX_PAGE = 2_000
/** Long enough for a busy etcd, for example after a compaction. No client waits for the response. */
const TIMEOUT_MS = 60_000

/**
 * @param exclusive whether to refuse a store that servers use, or that changed while it was read
 * @throws StorageError
 */
export async function etcdReader (options: EtcdReaderOptions, exclusive: boolean): Promise<StoreReader> {
  const { prefix } = options
  const connection = new Connection(options)
  try {
    const { kvs: [mark] } = await connection.range({ key: Buffer.from(`${prefix}/${FORMAT_KEY}`, 'latin1') })
    const format = formatOf(mark)
    if (format === undefined || format.format > FORMAT) {
      throw new StorageError('Unavailable', faultOfMark(prefix, mark, FORMAT))
    }
    connection.offset = format.offset
    const { start, end } = rangeOf(`${prefix}/`)
    const range = { key: Buffer.from(start, 'latin1'), rangeEnd: Buffer.from(end, 'latin1') }
    const { revision, count } = await connection.range({ ...range, countOnly: true }, TIMEOUT_MS)
    const own = (await connection.range({
      key: Buffer.from(`${start}.`, 'latin1'), rangeEnd: Buffer
        .from(`${start}/`, 'latin1'), revision, countOnly: true
    }, TIMEOUT_MS)).count
    const reader = new Reader(connection, range, revision, start)
    if (exclusive) await refuseServers(connection, prefix)
    return {
      source: 'etcd',
      revision,
      takenAt: Date.now(),
      prefix,
      count: count - own,
      objects: () => reader.objects(),
      unchanged: async () => { if (exclusive) await reader.refuseChanges(count) },
      close: async () => { connection.close() }
    }
  } catch (error) {
    connection.close()
    throw error
  }
}

class Reader {
  readonly #connection: Connection
  readonly #range: { readonly key: Buffer, readonly rangeEnd: Buffer }
  readonly #revision: Revision
  readonly #start: string
  readonly #leases = new Map<string, Lease>()
  #page = FIRST_PAGE

  constructor (
    connection: Connection, range: { readonly key: Buffer, readonly rangeEnd: Buffer }, revision: Revision,
    start: string
  ) {
    this.#connection = connection
    this.#range = range
    this.#revision = revision
    this.#start = start
  }

  /** @throws StorageError if the objects are no longer those of the revision that was read */
  async refuseChanges (count: number): Promise<void> {
    const { kvs: [changed], count: now } = await this.#connection
      .range({ ...this.#range, limit: 1, minModRevision: this.#revision + 1 }, TIMEOUT_MS)
    if (changed !== undefined || now !== count) {
      throw new StorageError(
        'Unavailable',
        `the store was changed while it was copied (${changed?.key ?? 'a key was deleted'}): stop what writes to it, ` +
          'and run this again'
      )
    }
  }

  async * objects (): AsyncGenerator<readonly StoredObject[]> {
    let { key } = this.#range
    for (;;) {
      const { kvs, more, leases } = await this.#read(key)
      const last = kvs.at(-1)
      if (last === undefined) return
      const objects: StoredObject[] = []
      for (const [at, kv] of kvs.entries()) {
        if (kv.key.startsWith('.', this.#start.length)) continue // of the store, not of an object
        const lease = await this.#lease(leases[at] ?? '0')
        if (lease !== 'ended') {
          objects.push({
            key: kv.key, value: kv.value, createRevision: kv.createRevision, modRevision: kv.modRevision, lease
          })
        }
      }
      this.#page = Math.min(MAX_PAGE, Math.max(1, Math.ceil(BATCH_BYTES /
        (objects.reduce((sum, object) => sum + bytesOf(object), 1) / Math.max(1, objects.length)))))
      yield objects
      if (!more) return
      key = Buffer.from(`${last.key}\0`, 'latin1')
    }
  }

  async #read (key: Buffer): ReturnType<Connection['leased']> {
    try {
      return await this.#connection
        .leased({ key, rangeEnd: this.#range.rangeEnd, limit: this.#page, revision: this.#revision }, TIMEOUT_MS)
    } catch (error) {
      throw isStorageError(error, 'Compacted')
        ? new StorageError(
            'Compacted',
          `etcd compacted revision ${this.#revision} while it was read: try again, with a longer ` +
            '--etcd-compaction-interval of the servers if it takes longer than that',
          { cause: error }
          )
        : error
    }
  }

  async #lease (id: string): Promise<Lease | 'ended' | undefined> {
    if (id === '0') return undefined
    const cachedLease = this.#leases.get(id)
    if (cachedLease !== undefined) return cachedLease
    const { TTL, grantedTTL } = await this.#connection
      .other<{ TTL: string, grantedTTL: string }>('Lease', 'leaseTimeToLive', { ID: id, keys: false }, TIMEOUT_MS)
    if (Number(TTL) <= 0) return 'ended'
    const lease = { ttlSeconds: Number(grantedTTL), expires: Date.now() + Number(TTL) * 1000 }
    this.#leases.set(id, lease)
    return lease
  }
}
