/**
 * Repairs allocations after a process ended between the two steps of a write: releases values without an owner, and
 * allocates values that services hold. Runs at start-up and then repeatedly, using at most a hundredth of the time. A
 * value that is just being allocated looks leaked as well, so it must be seen several times. Nothing waits for the
 * first run, because the key of a value is its lock.
 */
import type { Service } from '../../schemas/api/core/services.js'
import type { KeyValue, Revision } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import { type Clock, systemClock } from '../../event-loop/clock.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { isStorageError } from '../../storage/errors.js'
import { EVERYTHING } from '../../registry/verbs/list-request.js'
import { list } from '../../registry/verbs/list.js'
import { current } from '../../registry/current.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import type { ServiceAllocation } from '../../registry/services/allocation.js'
import type { Bitmap } from '../../registry/services/bitmap.js'
import { addressesOf, nodePortsOf } from '../../registry/services/service-values.js'
import { ownerOf, type Owner, type Pool } from '../../registry/services/pool.js'

export interface ServiceRepairOptions extends ControllerOptions {
  readonly allocation: ServiceAllocation
  /** Receives notes for the operator. */
  readonly note: (text: string) => void
  /** Minimum milliseconds between two runs. Default three minutes. */
  readonly interval?: number
}

const INTERVAL = 3 * 60_000
const TIME_DIVISOR = 100
/** Consecutive sightings before a value counts as leaked. */
const MIN_SIGHTINGS = 3
/** Names per log line. */
const MAX_NAMED = 10

/** An address or node port. */
interface Value { readonly pool: Pool, readonly name: string }
interface Suspect { readonly revision: Revision, readonly sightings: number }

export class ServiceRepair implements Controller {
  readonly #options: ServiceRepairOptions
  readonly #clock: Clock
  #suspects = new Map<string, Suspect>()
  #cancel: (() => void) | undefined
  #closed = false
  #running: Promise<void> | undefined
  #lastReport = ''

  constructor (options: ServiceRepairOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** Resolves after the first run. */
  async start (): Promise<void> {
    await this.run()
    if (!this.#closed) this.#schedule(0)
  }

  async close (): Promise<void> {
    this.#closed = true
    this.#cancel?.()
    await this.#running?.catch(() => {}) // reported to the caller of `run`
  }

  /** Checks all values once. @throws StorageError */
  async run (): Promise<void> {
    this.#running = this.#reconcile()
    await this.#running
  }

  #schedule (duration: number): void {
    this.#cancel = this.#clock.after(Math.max(this.#options.interval ?? INTERVAL, duration * TIME_DIVISOR), () => {
      const began = this.#clock.elapsed()
      this.run().catch((error: unknown) => {
        if (!isStorageError(error, 'Closed')) {
          this.#options.log('the addresses and node ports of services could not be checked', error)
        }
      }).finally(() => { if (!this.#closed) this.#schedule(this.#clock.elapsed() - began) })
    })
  }

  async #reconcile (): Promise<void> {
    const { allocation, resources } = this.#options
    const store = resources.find('', 'services')
    if (store === undefined) return
    // List services before the pools: their values were allocated earlier.
    const { entries } = await list(store, EVERYTHING)
    const suspects = new Map<string, Suspect>()
    const pools = new Set<Pool>([...allocation.pools.all, allocation.nodePorts])
    const taken = new Map<Pool, Bitmap>()
    for (const pool of pools) taken.set(pool, await this.#checkPool(store, pool, suspects))
    this.#suspects = suspects
    await this.#checkServices(store, entries, taken)
    for (const [pool, bitmap] of taken) pool.useBitmap(bitmap)
  }

  async #checkPool (store: ResourceStore, pool: Pool, suspects: Map<string, Suspect>): Promise<Bitmap> {
    const bitmap = pool.bitmap()
    for await (const kvs of pool.all()) {
      for (const kv of kvs) {
        if (this.#closed) return bitmap
        if (turnIsOver()) await nextTurn()
        const name = pool.nameOf(kv)
        const slot = pool.slots.slotOf(name)
        // Skip addresses of the other family and of former ranges, which share the prefix.
        if (pool !== this.#options.allocation.nodePorts && slot === undefined) continue
        if (await this.#isLeaked(store, { pool, name }, kv, suspects)) {
          await pool.release({ name, key: kv.key, revision: kv.modRevision })
        } else if (slot !== undefined) bitmap.add(slot)
      }
    }
    return bitmap
  }

  /** True if no service has held the value for several runs. */
  async #isLeaked (
    store: ResourceStore, value: Value, kv: KeyValue, suspects: Map<string, Suspect>
  ): Promise<boolean> {
    const owner = ownerOf(kv)
    const key = owner === undefined ? '' : store.keys.of(owner.namespace, owner.name)
    const isHeld = (entry: Entry | undefined): boolean => owner !== undefined && entry !== undefined &&
      this.#isHeldBy(store, entry, owner, value)
    if (owner !== undefined && isHeld(store.cache === undefined ? await current(store, key) : store.cache.get(key))) {
      return false
    }
    const before = this.#suspects.get(kv.key)
    const sightings = (before?.revision === kv.modRevision ? before.sightings : 0) + 1
    if (sightings >= MIN_SIGHTINGS) return owner === undefined || !isHeld(await current(store, key))
    suspects.set(kv.key, { revision: kv.modRevision, sightings })
    return false
  }

  #isHeldBy (store: ResourceStore, entry: Entry, { uid }: Owner, { pool, name }: Value): boolean {
    const { spec, metadata } = store.entries.read(entry) as Service // stores of services contain services
    if (metadata.uid !== uid) return false
    return pool === this.#options.allocation.nodePorts
      ? nodePortsOf(spec).has(Number(name))
      : addressesOf(spec).some(address => address.name === name)
  }

  async #checkServices (store: ResourceStore, entries: readonly Entry[], taken: Map<Pool, Bitmap>): Promise<void> {
    const { allocation } = this.#options
    const outside: string[] = []
    const duplicates: string[] = []
    const claimed = new Map<Pool, Bitmap>([...taken.keys()].map(pool => [pool, pool.bitmap()]))
    for (const entry of entries) {
      if (this.#closed) return
      if (turnIsOver()) await nextTurn()
      // stores of services contain services
      const { spec, metadata: { namespace = '', name = '' } } = store.entries.read(entry) as Service
      const held = [
        ...addressesOf(spec).map(address => ({ pool: allocation.pools.holding(address.name), name: address.name })),
        ...[...nodePortsOf(spec)].map(port => ({ pool: allocation.nodePorts, name: String(port) }))
      ]
      for (const { pool, name: what } of held) {
        const slot = pool?.slots.slotOf(what)
        if (pool === undefined || slot === undefined) {
          outside.push(`${namespace}/${name} (${what})`)
          continue
        }
        const claims = claimed.get(pool)
        if (claims?.has(slot) === true && slot !== pool.reserved) duplicates.push(`${namespace}/${name} (${what})`)
        claims?.add(slot)
        if (!await this.#isTaken(store, entry, { pool, name: what }, taken.get(pool))) {
          duplicates.push(`${namespace}/${name} (${what})`)
        }
      }
    }
    this.#logProblems(outside, duplicates)
  }

  /** Allocates a value that a service holds. False if another service has it. */
  async #isTaken (
    store: ResourceStore, { key }: Entry, value: Value, taken: Bitmap | undefined
  ): Promise<boolean> {
    const { pool, name: what } = value
    const slot = pool.slots.slotOf(what)
    if (slot !== undefined && taken?.has(slot) === true && slot !== pool.reserved) return true
    const now = await current(store, key)
    if (now === undefined) return true
    const { metadata: { namespace = '', name = '', uid = '' } } = store.entries.read(now)
    if (!this.#isHeldBy(store, now, { namespace, name, uid }, value)) return true
    if (slot !== undefined) taken?.add(slot)
    const owner = { namespace, name, uid }
    return await pool.take(what, owner) !== undefined || await pool.isOwner(what, owner)
  }

  #logProblems (outside: readonly string[], duplicates: readonly string[]): void {
    const named = (all: readonly string[]): string =>
      all.slice(0, MAX_NAMED).join(', ') + (all.length > MAX_NAMED ? ` and ${all.length - MAX_NAMED} more` : '')
    const lines = [
      ...(outside.length > 0
        ? [
            'services with cluster IPs or node ports outside --service-cluster-ip-range and ' +
              '--service-node-port-range: ' +
            `${named(outside)}; recreate them`
          ]
        : []),
      ...(duplicates.length > 0
        ? [`services with cluster IPs or node ports that other services have too: ${named(duplicates)}; recreate them`]
        : [])
    ]
    // Report problems only when they change.
    if (lines.join() !== this.#lastReport) for (const line of lines) this.#options.note(line)
    this.#lastReport = lines.join()
  }
}
