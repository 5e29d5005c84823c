/**
 * Lists and maps of thousands of items within objects that are walked at once, since most are small and walked at every
 * write: a walk passes by long ones, these are worked on in steps, and the walk is done again with the results.
 */
import type { Steps } from '../../schemas/steps.js'

/** Items that are worked on at once. */
export const SHORT_LIST = 500
/** Items of longer ones between two yields. */
export const ITEMS_PER_STEP = 250

export class LongLists {
  readonly #results = new Map<object, unknown>()
  #missing: Array<readonly [list: object, work: () => Steps<unknown>]> = []

  /**
   * The result for a list or map; undefined if it is only known when the walk is done again.
   * @param work computes it; a list is asked for once, so each call for the same list must pass equal work
   */
  result<T> (list: object, work: () => Steps<T>): T | undefined {
    if (this.#results.has(list)) return this.#results.get(list) as T // of the same work
    this.#missing.push([list, work])
    return undefined
  }

  /** Runs a walk until it misses nothing. */
  * complete<T> (walk: (long: this) => T): Steps<T> {
    for (;;) {
      const result = walk(this)
      if (this.#missing.length === 0) return result
      const missing = this.#missing
      this.#missing = []
      for (const [list, work] of missing) this.#results.set(list, yield * work())
    }
  }
}

/** Runs a walk, and what it passes by in steps. */
export const inSteps = <T>(walk: (long: LongLists) => T): Steps<T> => new LongLists().complete(walk)
