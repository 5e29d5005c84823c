/**
 * Pools of unique addresses or ports, shared by all servers. Each taken value is a key whose value names the owner:
 * creating the key is the lock, and costs the same however many values are taken. A bitmap in memory hints at free
 * values; if it is wrong, the create fails and the next value is tried.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { KeyValue, Revision } from '../../storage/backend.js'
import { isStorageError } from '../../storage/errors.js'
import { rangeOf } from '../../storage/key.js'
import { Bitmap } from './bitmap.js'
import { type PoolKeys, TrialKeys } from './trial-keys.js'
import type { ValueRange } from './value-range.js'

/** The owner of a value. */
export interface Owner { readonly namespace: string, readonly name: string, readonly uid: string }

export interface PoolOptions {
  readonly backend: PoolKeys
  /** Key prefix; ends in '/'. */
  readonly scope: string
  readonly slots: ValueRange
  /** A slot that is only allocated by name. */
  readonly reserved?: number
  /** The first slots, which `takeAny` takes last, so that they stay free for values asked for by name. Default 0. */
  readonly last?: number
  /** Minimum milliseconds between two reads of the store while the pool is full. Default 100. */
  readonly refresh?: number
  /** Values that are in use although the store has no key for them, and are not handed out. Default none. */
  readonly others?: () => Promise<Iterable<string>>
  /** For metrics. Default none. */
  readonly observer?: PoolObserver | undefined
}

export interface PoolObserver {
  readonly taken: () => void
  /** A requested value is taken, or no value is free. */
  readonly refused: () => void
}

export interface AllocatedValue { readonly name: string, readonly key: string, readonly revision: Revision }

const PAGE = 5000
const REFRESH_MS = 100
/** Reads take at most this fraction of the time. */
const READ_TIME_DIVISOR = 10

export class Pool {
  readonly slots: ValueRange
  readonly #options: PoolOptions
  #taken: Bitmap
  /** Resolves when the bitmap has been read. */
  #loaded: Promise<void> | undefined
  /** A read that has not started yet. */
  #pendingRead: Promise<void> | undefined
  #reading: Promise<void> = Promise.resolve()
  #readAgainAt = -Infinity

  constructor (options: PoolOptions) {
    this.#options = options
    this.slots = options.slots
    this.#taken = this.bitmap()
  }

  /** Number of taken values, as far as this server knows. */
  get taken (): number { return this.#taken.count }
  get reserved (): number | undefined { return this.#options.reserved }

  /** An empty bitmap, except for the reserved slot. */
  bitmap (): Bitmap {
    const bitmap = new Bitmap(this.slots.size)
    if (this.#options.reserved !== undefined) bitmap.add(this.#options.reserved)
    return bitmap
  }

  /** The pool as one dry run sees it, which takes values for itself alone. */
  trial (): Pool {
    const keys = new TrialKeys(this.#options.backend)
    const { backend, observer, ...options } = this.#options
    const trial = new Pool({ ...options, backend: keys })
    trial.#readTaken = async again => {
      if (again) await this.#ensureReadAgain()
      else await this.#ensureLoaded()
      const taken = this.#taken.copy()
      for (const kv of keys.made.values()) this.#addTo(taken, kv)
      return taken
    }
    return trial
  }

  key (name: string): string { return this.#options.scope + name }
  nameOf ({ key }: KeyValue): string { return key.slice(this.#options.scope.length) }

  /** Replaces the bitmap by a complete one that the caller read. */
  useBitmap (taken: Bitmap): void {
    this.#taken = taken
    this.#loaded = Promise.resolve()
  }

  /** Undefined if the value is taken. @throws StorageError */
  async take (name: string, owner: Owner): Promise<AllocatedValue | undefined> {
    const taken = await this.#take(name, owner)
    if (taken === undefined) this.#options.observer?.refused()
    return taken
  }

  async #take (name: string, owner: Owner): Promise<AllocatedValue | undefined> {
    const slot = this.slots.slotOf(name)
    const key = this.key(name)
    const result = await this.#options.backend.create(key, Buffer.from(JSON.stringify(owner)))
    if (slot !== undefined) this.#taken.add(slot)
    if (!result.succeeded) return undefined
    this.#options.observer?.taken()
    return { name, key, revision: result.revision }
  }

  async isOwner (name: string, { uid }: Owner): Promise<boolean> {
    const { kv } = await this.#options.backend.get(this.key(name))
    return kv !== undefined && ownerOf(kv)?.uid === uid
  }

  /** Takes any free value, undefined if there is none. @throws StorageError */
  async takeAny (owner: Owner): Promise<AllocatedValue | undefined> {
    for (;;) {
      await this.#ensureFree()
      const slot = this.#freeSlot()
      if (slot === undefined) {
        this.#options.observer?.refused()
        return undefined
      }
      this.#taken.add(slot) // reserve it from concurrent calls
      try {
        const taken = await this.#take(this.slots.nameOf(slot), owner)
        if (taken !== undefined) return taken
      } catch (error) {
        if (!isStorageError(error, 'UnknownOutcome')) this.#taken.delete(slot)
        throw error
      }
    }
  }

  #freeSlot (): number | undefined {
    const { last = 0 } = this.#options
    return this.#taken.free(randomInt(last, this.slots.size), last) ?? (last === 0
      ? undefined
      : this.#taken.free(randomInt(last)))
  }

  /** Releases a value that was just taken. @throws StorageError */
  async release ({ name, key, revision }: AllocatedValue): Promise<void> {
    const { succeeded } = await this.#options.backend.delete(key, revision)
    if (succeeded) this.#free(name)
  }

  /** Releases a value if this owner has it. @throws StorageError */
  async releaseOwned (name: string, uid: string): Promise<void> {
    const { kv } = await this.#options.backend.get(this.key(name))
    if (kv === undefined) this.#free(name)
    else if (ownerOf(kv)?.uid === uid) await this.release({ name, key: kv.key, revision: kv.modRevision })
  }

  /** All taken values, page by page. */
  async * all (): AsyncGenerator<KeyValue[]> {
    const { start, end } = rangeOf(this.#options.scope)
    for (let next = start; ;) {
      const { kvs, more } = await this.#options.backend.list({ start: next, end, limit: PAGE })
      yield kvs
      const last = kvs.at(-1)
      if (!more || last === undefined) return
      next = `${last.key}\0`
    }
  }

  #free (name: string): void {
    const slot = this.slots.slotOf(name)
    if (slot !== undefined && slot !== this.#options.reserved) this.#taken.delete(slot)
  }

  /**
   * Resolves when a slot may be free, or after a read that started since then found none: other servers may have
   * released some.
   */
  async #ensureFree (): Promise<void> {
    await this.#ensureLoaded()
    if (this.#taken.count >= this.slots.size) await this.#ensureReadAgain()
  }

  #ensureLoaded (): Promise<void> {
    return this.#loaded ??= this.#read(false).catch((error: unknown) => {
      this.#loaded = undefined
      throw error
    })
  }

  #ensureReadAgain (): Promise<void> { return this.#pendingRead ??= this.#readAgain() }

  async #readAgain (): Promise<void> {
    await this.#reading.catch(() => {}) // already reported to its callers
    await delay(Math.max(0, this.#readAgainAt - performance.now()))
    this.#pendingRead = undefined
    this.#reading = this.#read(true)
    await this.#reading
  }

  async #read (again: boolean): Promise<void> {
    const began = performance.now()
    try {
      this.#taken = await this.#readTaken(again)
    } finally {
      const ended = performance.now()
      this.#readAgainAt = ended + Math.max(this.#options.refresh ?? REFRESH_MS, (ended - began) * READ_TIME_DIVISOR)
    }
  }

  /** A trial replaces it. */
  #readTaken = async (_again: boolean): Promise<Bitmap> => {
    const taken = this.bitmap()
    for await (const kvs of this.all()) for (const kv of kvs) this.#addTo(taken, kv)
    for (const name of await this.#options.others?.() ?? []) {
      const slot = this.slots.slotOf(name)
      if (slot !== undefined) taken.add(slot)
    }
    return taken
  }

  #addTo (taken: Bitmap, kv: KeyValue): void {
    const slot = this.slots.slotOf(this.nameOf(kv))
    if (slot !== undefined) taken.add(slot)
  }
}

/** Undefined for an unreadable value. */
export function ownerOf ({ value, damage }: KeyValue): Owner | undefined {
  if (damage !== undefined) return undefined
  try {
    const owner =
      JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()) as Partial<Owner> | null
    const { namespace, name, uid } = owner ?? {}
    return typeof namespace === 'string' && typeof name === 'string' && typeof uid === 'string'
      ? { namespace, name, uid }
      : undefined
  } catch {
    return undefined
  }
}
