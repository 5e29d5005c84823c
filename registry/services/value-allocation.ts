import { invalid, StatusError } from '../../schemas/status.js'
import type { Owner, Pool, AllocatedValue } from './pool.js'

const SERVICE = { group: '', kind: 'Service' }
/** Attempts to find a value that this dry run has not used yet. */
const MAX_TRIES = 100

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
  /** Values used by this dry run. */
  readonly #dryRunTaken = new Map<Pool, Set<string>>()

  constructor (owner: Owner, dryRun: boolean) {
    this.#owner = owner
    this.#dryRun = dryRun
  }

  /** Takes any free value. @param what for the error. @throws StatusError 500 if none is free */
  async any (pool: Pool, what: string): Promise<string> {
    const name = this.#dryRun ? await this.#simulateAny(pool) : await this.#takeAny(pool)
    if (name === undefined) throw new StatusError('InternalError', `failed to allocate a ${what}: range is full`)
    return name
  }

  /**
   * Takes a specific value.
   * @param explain returns the cause to report
   * @throws StatusError 422
   */
  async named (pool: Pool, name: string, explain: (why: string) => { field: string, value: unknown, detail: string }, names: ValueNames): Promise<void> {
    const refuse = (why: string): never => { throw invalid(SERVICE, this.#owner.name, [{ type: 'FieldValueInvalid', ...explain(why) }]) }
    if (pool.slots.slotOf(name) === undefined) refuse(`${names.provided(name)} is not in the valid range. The range of valid ${names.many} is ${pool.slots.range}`)
    if (!await (this.#dryRun ? this.#simulate(pool, name) : this.#take(pool, name))) refuse(`provided ${names.one} is already allocated`)
  }

  /** Releases all values that this write took. @throws the first failure */
  async releaseAll (): Promise<void> {
    await Promise.all(this.#taken.splice(0).map(({ pool, taken }) => pool.release(taken)))
  }

  #keep (pool: Pool, taken: AllocatedValue | undefined): string | undefined {
    if (taken !== undefined) this.#taken.push({ pool, taken })
    return taken?.name
  }

  async #takeAny (pool: Pool): Promise<string | undefined> { return this.#keep(pool, await pool.takeAny(this.#owner)) }
  async #take (pool: Pool, name: string): Promise<boolean> { return this.#keep(pool, await pool.take(name, this.#owner)) !== undefined }

  #dryRunSet (pool: Pool): Set<string> {
    let seen = this.#dryRunTaken.get(pool)
    if (seen === undefined) this.#dryRunTaken.set(pool, seen = new Set())
    return seen
  }

  async #simulateAny (pool: Pool): Promise<string | undefined> {
    const seen = this.#dryRunSet(pool)
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const name = await pool.anyFree()
      if (name === undefined || seen.has(name)) continue
      seen.add(name)
      return name
    }
    return undefined
  }

  async #simulate (pool: Pool, name: string): Promise<boolean> {
    const seen = this.#dryRunSet(pool)
    if (seen.has(name) || await pool.isTaken(name)) return false
    seen.add(name)
    return true
  }
}
