/** The pools of the address ranges in use. They change with the ranges, which are found to be in use one by one. */
import type { Family } from './families.js'
import type { Pool } from './pool.js'
import { addressValues, type AddressValues } from './value-range.js'

export class AddressPools {
  /** By range. */
  #pools: ReadonlyMap<string, Pool>
  readonly #make: (slots: AddressValues) => Pool

  /** @param first pools of the ranges that are in use at first, by range */
  constructor (first: ReadonlyMap<string, Pool>, make: (slots: AddressValues) => Pool) {
    this.#pools = first
    this.#make = make
  }

  get all (): Iterable<Pool> { return this.#pools.values() }

  /** Pools of ranges that stay keep what they know. @param ranges valid ones; those without a value are left out */
  use (ranges: Iterable<string>): void {
    const pools = new Map<string, Pool>()
    for (const range of ranges) {
      if (pools.has(range)) continue
      const poolBefore = this.#pools.get(range)
      const slots = poolBefore === undefined ? addressValues(range, true) : poolBefore.slots
      if (slots.size > 0) pools.set(range, poolBefore ?? this.#make(slots as AddressValues))
    }
    this.#pools = pools
  }

  /** Of a family, in the order in which they are used. */
  of (family: Family): readonly Pool[] { return [...this.#pools.values()].filter(pool => familyOf(pool) === family) }

  /** The pool of an address; undefined outside of all ranges. */
  holding (address: string): Pool | undefined {
    for (const pool of this.#pools.values()) if (pool.slots.has(address)) return pool
    return undefined
  }
}

const familyOf = ({ slots }: Pool): Family => slots.range.includes(':') ? 'IPv6' : 'IPv4'
