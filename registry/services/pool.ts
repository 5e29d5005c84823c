/**
 * Addresses, or ports, that can be had once each, whichever server gives them out. Each that is taken is a key of its own, whose
 * value says who has it: creating a key that must not be there is the lock, and taking one costs the same however many are taken.
 * Which are free is known by bits in memory, and only hints: whoever is wrong about one finds its key there, and tries another.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Backend, KeyValue, Revision } from '../../storage/backend.js'
import { isStorageError } from '../../storage/errors.js'
import { rangeOf } from '../../storage/key.js'
import { Bitmap } from './bitmap.js'
import type { ValueRange } from './value-range.js'

/** Whose a slot is. */
export interface Owner { readonly namespace: string, readonly name: string, readonly uid: string }

export interface PoolOptions {
  readonly backend: Backend
  /** Above the keys; ends in '/'. */
  readonly scope: string
  readonly slots: ValueRange
  /** A slot that only who names it is given. */
  readonly reserved?: number
  /** Milliseconds between two looks at the store by those who find nothing free, at least. Default 100. */
  readonly refresh?: number
  /** For metrics. Default nobody is told. */
  readonly observer?: PoolObserver | undefined
}

export interface PoolObserver {
  readonly taken: () => void
  /** One that somebody has, or any where none is free. */
  readonly refused: () => void
}

export interface Taken { readonly name: string, readonly key: string, readonly revision: Revision }

const PAGE = 5000
const REFRESH = 100
/** Looks take no more than one part in so many of the time. */
const PART_OF_TIME = 10

export class Pool {
  readonly slots: ValueRange
  readonly #options: PoolOptions
  #taken: Bitmap
  /** Resolves when it has been seen what is taken. */
  #seen: Promise<void> | undefined
  /** The look that is yet to begin. */
  #next: Promise<void> | undefined
  #reading: Promise<void> = Promise.resolve()
  #readAgainAt = -Infinity

  constructor (options: PoolOptions) {
    this.#options = options
    this.slots = options.slots
    this.#taken = this.bitmap()
  }

  /** How many are taken, as far as is known here. */
  get taken (): number { return this.#taken.count }
  get reserved (): number | undefined { return this.#options.reserved }

  /** Of its slots, all free but what is reserved. */
  bitmap (): Bitmap {
    const bitmap = new Bitmap(this.slots.size)
    if (this.#options.reserved !== undefined) bitmap.add(this.#options.reserved)
    return bitmap
  }

  key (name: string): string { return this.#options.scope + name }
  nameOf ({ key }: KeyValue): string { return key.slice(this.#options.scope.length) }

  /** What somebody has seen to be taken, of all there is. */
  know (taken: Bitmap): void {
    this.#taken = taken
    this.#seen = Promise.resolve()
  }

  /** Undefined where it is taken already. @throws StorageError */
  async take (name: string, owner: Owner): Promise<Taken | undefined> {
    const taken = await this.#take(name, owner)
    if (taken === undefined) this.#options.observer?.refused()
    return taken
  }

  async #take (name: string, owner: Owner): Promise<Taken | undefined> {
    const slot = this.slots.slotOf(name)
    const key = this.key(name)
    const result = await this.#options.backend.create(key, Buffer.from(JSON.stringify(owner)))
    if (slot !== undefined) this.#taken.add(slot)
    if (!result.succeeded) return undefined
    this.#options.observer?.taken()
    return { name, key, revision: result.revision }
  }

  /** Whether somebody has it. */
  async isTaken (name: string): Promise<boolean> { return (await this.#options.backend.get(this.key(name))).kv !== undefined }

  async isOwner (name: string, { uid }: Owner): Promise<boolean> {
    const { kv } = await this.#options.backend.get(this.key(name))
    return kv !== undefined && ownerOf(kv)?.uid === uid
  }

  /** Any that is free, undefined when none is. @throws StorageError */
  async takeAny (owner: Owner): Promise<Taken | undefined> {
    for (;;) {
      await this.#look()
      const slot = this.#taken.free(randomInt(this.slots.size))
      if (slot === undefined) {
        this.#options.observer?.refused()
        return undefined
      }
      this.#taken.add(slot) // so that nobody else here tries it meanwhile
      try {
        const taken = await this.#take(this.slots.nameOf(slot), owner)
        if (taken !== undefined) return taken
      } catch (error) {
        if (!isStorageError(error, 'UnknownOutcome')) this.#taken.delete(slot)
        throw error
      }
    }
  }

  /** One that `takeAny` might take, and others as well. */
  async anyFree (): Promise<string | undefined> {
    await this.#look()
    const slot = this.#taken.free(randomInt(this.slots.size))
    return slot === undefined ? undefined : this.slots.nameOf(slot)
  }

  /** Gives back what was taken just now. @throws StorageError */
  async giveBack ({ name, key, revision }: Taken): Promise<void> {
    const { succeeded } = await this.#options.backend.delete(key, revision)
    if (succeeded) this.#free(name)
  }

  /** Gives back what the owner has had; what is somebody else's stays. @throws StorageError */
  async release (name: string, uid: string): Promise<void> {
    const { kv } = await this.#options.backend.get(this.key(name))
    if (kv === undefined) this.#free(name)
    else if (ownerOf(kv)?.uid === uid) await this.giveBack({ name, key: kv.key, revision: kv.modRevision })
  }

  /** All that is taken, page by page, each with those it can be sure of. */
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

  /** Resolves when one may be free, or when a look that began after this was asked found none: others may have given some back. */
  async #look (): Promise<void> {
    this.#seen ??= this.#read().catch((error: unknown) => {
      this.#seen = undefined
      throw error
    })
    await this.#seen
    if (this.#taken.count >= this.slots.size) await (this.#next ??= this.#lookAnew())
  }

  async #lookAnew (): Promise<void> {
    await this.#reading.catch(() => {}) // whoever asked for it was told
    await delay(Math.max(0, this.#readAgainAt - performance.now()))
    this.#next = undefined
    this.#reading = this.#read()
    await this.#reading
  }

  async #read (): Promise<void> {
    const began = performance.now()
    try {
      const taken = this.bitmap()
      for await (const kvs of this.all()) {
        for (const kv of kvs) {
          const slot = this.slots.slotOf(this.nameOf(kv))
          if (slot !== undefined) taken.add(slot)
        }
      }
      this.#taken = taken
    } finally {
      const ended = performance.now()
      this.#readAgainAt = ended + Math.max(this.#options.refresh ?? REFRESH, (ended - began) * PART_OF_TIME)
    }
  }
}

/** Undefined for a value that says nothing sensible. */
export function ownerOf ({ value, damage }: KeyValue): Owner | undefined {
  if (damage !== undefined) return undefined
  try {
    const owner = JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()) as Partial<Owner> | null
    const { namespace, name, uid } = owner ?? {}
    return typeof namespace === 'string' && typeof name === 'string' && typeof uid === 'string' ? { namespace, name, uid } : undefined
  } catch {
    return undefined
  }
}
