/** What one write of a service takes, so that it can be given back. */
import { invalid, StatusError } from '../../schemas/status.js'
import type { Owner, Pool, Taken } from './pool.js'

const SERVICE = { group: '', kind: 'Service' }
/** Of finding one that this write has not been shown yet, under dry run. */
const MOST_TRIES = 100

/** What a pool is of, in refusals. */
export interface Noun {
  readonly one: string
  readonly many: string
  /** One that is not of the pool, as clients know it. */
  readonly provided: (name: string) => string
}

export class Taking {
  readonly #owner: Owner
  readonly #dryRun: boolean
  readonly #taken: Array<{ readonly pool: Pool, readonly taken: Taken }> = []
  /** Under dry run. */
  readonly #shown = new Map<Pool, Set<string>>()

  constructor (owner: Owner, dryRun: boolean) {
    this.#owner = owner
    this.#dryRun = dryRun
  }

  /** One that is free. @param what for the error. @throws StatusError 500 when none is */
  async any (pool: Pool, what: string): Promise<string> {
    const name = this.#dryRun ? await this.#showAny(pool) : await this.#takeAny(pool)
    if (name === undefined) throw new StatusError('InternalError', `failed to allocate a ${what}: range is full`)
    return name
  }

  /**
   * That one.
   * @param explain the cause of a refusal, of why it can't be had
   * @throws StatusError 422
   */
  async named (pool: Pool, name: string, explain: (why: string) => { field: string, value: unknown, detail: string }, noun: Noun): Promise<void> {
    const refuse = (why: string): never => { throw invalid(SERVICE, this.#owner.name, [{ type: 'FieldValueInvalid', ...explain(why) }]) }
    if (pool.slots.slotOf(name) === undefined) refuse(`${noun.provided(name)} is not in the valid range. The range of valid ${noun.many} is ${pool.slots.range}`)
    if (!await (this.#dryRun ? this.#show(pool, name) : this.#take(pool, name))) refuse(`provided ${noun.one} is already allocated`)
  }

  /** Gives all of it back. @throws the first failure */
  async giveBack (): Promise<void> {
    await Promise.all(this.#taken.splice(0).map(({ pool, taken }) => pool.giveBack(taken)))
  }

  #keep (pool: Pool, taken: Taken | undefined): string | undefined {
    if (taken !== undefined) this.#taken.push({ pool, taken })
    return taken?.name
  }

  async #takeAny (pool: Pool): Promise<string | undefined> { return this.#keep(pool, await pool.takeAny(this.#owner)) }
  async #take (pool: Pool, name: string): Promise<boolean> { return this.#keep(pool, await pool.take(name, this.#owner)) !== undefined }

  #seen (pool: Pool): Set<string> {
    let seen = this.#shown.get(pool)
    if (seen === undefined) this.#shown.set(pool, seen = new Set())
    return seen
  }

  async #showAny (pool: Pool): Promise<string | undefined> {
    const seen = this.#seen(pool)
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const name = await pool.anyFree()
      if (name === undefined || seen.has(name)) continue
      seen.add(name)
      return name
    }
    return undefined
  }

  async #show (pool: Pool, name: string): Promise<boolean> {
    const seen = this.#seen(pool)
    if (seen.has(name) || await pool.isTaken(name)) return false
    seen.add(name)
    return true
  }
}
