/** The cost of evaluations, in upstream's units, and the work behind it. */

/** Ends an evaluation. Not a value, because operators absorb those. */
export class CostExceeded extends Error {}

/** Upstream's limit of one evaluation. */
export const MAX_COST = 1_000_000
/** Upstream's limit of all expressions that validate an object, or that a policy has for one. */
export const MAX_COST_OF_OBJECT = 10_000_000
/** Of all match conditions of a webhook or policy. */
export const MAX_COST_OF_CONDITIONS = 2_500_000
/** Between two yields: some milliseconds. */
const PER_YIELD = 2000
/** What upstream charges less for than it takes, such as a list that grows. Seconds. */
const MAX_WORK = 20_000_000

export class Meter {
  spent = 0
  #worked = 0
  #due = PER_YIELD

  /** @throws CostExceeded */
  spend (cost: number): void {
    this.spent += cost
    if (this.spent > MAX_COST) throw new CostExceeded()
  }

  /** Values visited, whatever they cost. @throws CostExceeded */
  work (steps: number): void {
    this.#worked += steps
    if (this.#worked > MAX_WORK) throw new CostExceeded()
  }

  /** Whether other work is due. */
  get isDue (): boolean {
    const done = this.spent + this.#worked
    if (done < this.#due) return false
    this.#due = done + PER_YIELD
    return true
  }
}
