import { invalid, StatusError } from '../../schemas/status.js'
import type { Owner, Pool, AllocatedValue } from './pool.js'

const SERVICE = { group: '', kind: 'Service' }

/** Names of the pool's values in error messages. */
export interface ValueNames {
  readonly one: string
  readonly many: string
  /** Describes a value outside the range. */
  readonly provided: (name: string) => string
}

export class AllocationAttempt {
  readonly #owner: Owner
  readonly #dryRun: boolean
  readonly #taken: Array<{ readonly pool: Pool, readonly taken: AllocatedValue }> = []
  /** What a dry run takes its values from instead. */
  readonly #trials = new Map<Pool, Pool>()

  constructor (owner: Owner, dryRun: boolean) {
    this.#owner = owner
    this.#dryRun = dryRun
  }

  /** Takes any free value of the first pool that has one. @param what for the error. @throws StatusError 500 */
  async any (pools: readonly Pool[], what: string): Promise<string> {
    for (const pool of pools) {
      const used = this.#used(pool)
      const name = this.#keep(used, await used.takeAny(this.#owner))
      if (name !== undefined) return name
    }
    const why = pools.length === 0 ? 'no range is ready' : 'range is full'
    throw new StatusError('InternalError', `failed to allocate a ${what}: ${why}`)
  }

  /**
   * Takes a specific value.
   * @param explain returns the cause to report
   * @throws StatusError 422
   */
  async named (
    pool: Pool, name: string, explain: (why: string) => { field: string, value: unknown, detail: string },
    names: ValueNames
  ): Promise<void> {
    const refuse = (why: string): never => this.refuse(explain(why))
    if (!pool.slots.has(name)) {
      refuse(
        `${names.provided(name)} is not in the valid range. The range of valid ${names.many} is ${pool.slots.range}`
      )
    }
    const used = this.#used(pool)
    const taken = this.#keep(used, await used.take(name, this.#owner))
    if (taken === undefined) refuse(`provided ${names.one} is already allocated`)
  }

  /** @throws StatusError 422 */
  refuse (cause: { field: string, value: unknown, detail: string }): never {
    throw invalid(SERVICE, this.#owner.name, [{ type: 'FieldValueInvalid', ...cause }])
  }

  /** Releases all values that this write took. @throws the first failure */
  async releaseAll (): Promise<void> {
    await Promise.all(this.#taken.splice(0).map(({ pool, taken }) => pool.release(taken)))
  }

  #keep (pool: Pool, taken: AllocatedValue | undefined): string | undefined {
    if (taken !== undefined) this.#taken.push({ pool, taken })
    return taken?.name
  }

  #used (pool: Pool): Pool {
    if (!this.#dryRun) return pool
    let trial = this.#trials.get(pool)
    if (trial === undefined) this.#trials.set(pool, trial = pool.trial())
    return trial
  }
}
