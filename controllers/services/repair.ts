/**
 * What makes up for a process that ended between the two steps of a write: what is taken and nobody has is given back, what a
 * service has and is not taken is taken. A look at all of it at the start, and then again and again, at a pace that takes no
 * more than a hundredth of the time. What is just being taken looks the same as what was left behind, so it has to be seen so
 * several times. Nobody waits for the first look: whatever is given out meanwhile is taken by its key.
 */
import { NO_FIELDS, NO_LABELS } from '../../schemas/index.js'
import type { Service } from '../../schemas/api/core/services.js'
import type { KeyValue, Revision } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import { type Clock, systemClock } from '../../storage/clock.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { isStorageError } from '../../storage/errors.js'
import { list } from '../../registry/operations/list.js'
import { current } from '../../registry/operations/rewrite.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { nextTurn, turnIsOver } from '../../storage/turns.js'
import type { ServiceAllocation } from '../../registry/services/allocation.js'
import type { Bitmap } from '../../registry/services/bitmap.js'
import { addressesOf, nodePortsOf } from '../../registry/services/held.js'
import { ownerOf, type Owner, type Pool } from '../../registry/services/pool.js'

export interface ServiceRepairOptions extends ControllerOptions {
  readonly allocation: ServiceAllocation
  /** For what an operator should know. */
  readonly note: (text: string) => void
  /** Milliseconds between two looks, at least. Default three minutes. */
  readonly interval?: number
}

const INTERVAL = 3 * 60_000
const MOST_OF_TIME = 100
/** In a row, before it counts as left behind. */
const SIGHTINGS = 3
/** Named in one line of the log. */
const MOST_NAMED = 10
const EVERYTHING = { namespace: '', labels: NO_LABELS, fields: NO_FIELDS, resourceVersion: '', limit: 0, continue: '', resourceVersionMatch: '' }

interface Suspect { readonly revision: Revision, readonly sightings: number }

export class ServiceRepair implements Controller {
  readonly #options: ServiceRepairOptions
  readonly #clock: Clock
  #suspects = new Map<string, Suspect>()
  #cancel: (() => void) | undefined
  #closed = false
  #running: Promise<void> | undefined
  #noted = ''

  constructor (options: ServiceRepairOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** Resolves after the first look. */
  async start (): Promise<void> {
    await this.run()
    if (!this.#closed) this.#schedule(0)
  }

  async close (): Promise<void> {
    this.#closed = true
    this.#cancel?.()
    await this.#running?.catch(() => {}) // whoever ran it was told
  }

  /** One look at everything. @throws StorageError */
  async run (): Promise<void> {
    this.#running = this.#look()
    await this.#running
  }

  #schedule (took: number): void {
    this.#cancel = this.#clock.after(Math.max(this.#options.interval ?? INTERVAL, took * MOST_OF_TIME), () => {
      const began = this.#clock.elapsed()
      this.run().catch((error: unknown) => {
        if (!isStorageError(error, 'Closed')) this.#options.log('the addresses and node ports of services could not be looked through', error)
      }).finally(() => { if (!this.#closed) this.#schedule(this.#clock.elapsed() - began) })
    })
  }

  async #look (): Promise<void> {
    const { allocation, resources } = this.#options
    const store = resources.find('', 'services')
    if (store === undefined) return
    // Services before what is taken: whatever one of these has was taken before.
    const { entries } = await list(store, EVERYTHING)
    const suspects = new Map<string, Suspect>()
    const pools = new Set<Pool>([...allocation.addresses.values(), allocation.nodePorts])
    const taken = new Map<Pool, Bitmap>()
    for (const pool of pools) taken.set(pool, await this.#lookAtPool(store, pool, suspects))
    this.#suspects = suspects
    await this.#lookAtServices(store, entries, taken)
    for (const [pool, bitmap] of taken) pool.know(bitmap)
  }

  async #lookAtPool (store: ResourceStore, pool: Pool, suspects: Map<string, Suspect>): Promise<Bitmap> {
    const bitmap = pool.bitmap()
    for await (const kvs of pool.all()) {
      for (const kv of kvs) {
        if (this.#closed) return bitmap
        if (turnIsOver()) await nextTurn()
        const name = pool.nameOf(kv)
        const slot = pool.slots.slotOf(name)
        // Addresses of both families are below one prefix, and those of former ranges too.
        if (pool !== this.#options.allocation.nodePorts && slot === undefined) continue
        if (await this.#isLeft(store, pool, name, kv, suspects)) await pool.giveBack({ name, key: kv.key, revision: kv.modRevision })
        else if (slot !== undefined) bitmap.add(slot)
      }
    }
    return bitmap
  }

  /** True when nobody has had it for several looks. */
  async #isLeft (store: ResourceStore, pool: Pool, name: string, kv: KeyValue, suspects: Map<string, Suspect>): Promise<boolean> {
    const owner = ownerOf(kv)
    const key = owner === undefined ? '' : store.key(owner.namespace, owner.name)
    const isHad = (entry: Entry | undefined): boolean => owner !== undefined && entry !== undefined && this.#has(store, entry, owner, pool, name)
    if (owner !== undefined && isHad(store.cache === undefined ? await current(store, key) : store.cache.get(key))) return false
    const before = this.#suspects.get(kv.key)
    const sightings = (before?.revision === kv.modRevision ? before.sightings : 0) + 1
    if (sightings >= SIGHTINGS) return owner === undefined || !isHad(await current(store, key))
    suspects.set(kv.key, { revision: kv.modRevision, sightings })
    return false
  }

  #has (store: ResourceStore, entry: Entry, { uid }: Owner, pool: Pool, name: string): boolean {
    const { spec, metadata } = store.readStored(entry) as Service // of the store of services
    if (metadata.uid !== uid) return false
    return pool === this.#options.allocation.nodePorts ? nodePortsOf(spec).has(Number(name)) : addressesOf(spec).some(one => one.name === name)
  }

  async #lookAtServices (store: ResourceStore, entries: readonly Entry[], taken: Map<Pool, Bitmap>): Promise<void> {
    const { allocation } = this.#options
    const outside: string[] = []
    const twice: string[] = []
    const claimed = new Map<Pool, Bitmap>([...taken.keys()].map(pool => [pool, pool.bitmap()]))
    for (const entry of entries) {
      if (this.#closed) return
      if (turnIsOver()) await nextTurn()
      const { spec, metadata: { namespace = '', name = '' } } = store.readStored(entry) as Service // of the store of services
      const held = [
        ...addressesOf(spec).map(one => ({ pool: allocation.addresses.get(one.family), name: one.name })),
        ...[...nodePortsOf(spec)].map(port => ({ pool: allocation.nodePorts, name: String(port) }))
      ]
      for (const { pool, name: what } of held) {
        const slot = pool?.slots.slotOf(what)
        if (pool === undefined || slot === undefined) {
          outside.push(`${namespace}/${name} (${what})`)
          continue
        }
        const claims = claimed.get(pool)
        if (claims?.has(slot) === true && slot !== pool.reserved) twice.push(`${namespace}/${name} (${what})`)
        claims?.add(slot)
        if (!await this.#isTaken(store, entry, pool, what, slot, taken.get(pool))) twice.push(`${namespace}/${name} (${what})`)
      }
    }
    this.#logProblems(outside, twice)
  }

  /** Takes what a service has and nobody took for it. False where it is somebody else's. */
  async #isTaken (store: ResourceStore, { key }: Entry, pool: Pool, what: string, slot: number, taken: Bitmap | undefined): Promise<boolean> {
    if (taken?.has(slot) === true && slot !== pool.reserved) return true
    const now = await current(store, key)
    if (now === undefined) return true
    const { metadata: { namespace = '', name = '', uid = '' } } = store.readStored(now)
    if (!this.#has(store, now, { namespace, name, uid }, pool, what)) return true
    taken?.add(slot)
    const owner = { namespace, name, uid }
    return await pool.take(what, owner) !== undefined || await pool.isOwner(what, owner)
  }

  #logProblems (outside: readonly string[], twice: readonly string[]): void {
    const named = (all: readonly string[]): string => all.slice(0, MOST_NAMED).join(', ') + (all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : '')
    const lines = [
      ...(outside.length > 0 ? [`services with cluster IPs or node ports outside --service-cluster-ip-range and --service-node-port-range: ${named(outside)}; recreate them`] : []),
      ...(twice.length > 0 ? [`services with cluster IPs or node ports that other services have too: ${named(twice)}; recreate them`] : [])
    ]
    // Not at each look the same.
    if (lines.join() !== this.#noted) for (const line of lines) this.#options.note(line)
    this.#noted = lines.join()
  }
}
