/** Requests that are followed while they run, in no order. */

/**
 * An array whose slots are reused: a map sheds tables as it churns, and each
 * keeps the requests of its time alive until the next full collection.
 */
export class IndexedList<T extends { at: number }> {
  readonly #all: T[] = []

  add (one: T): void {
    one.at = this.#all.length
    this.#all.push(one)
  }

  /** Does nothing for one that is not there any more. */
  remove (one: T): void {
    if (this.#all[one.at] !== one) return
    const last = this.#all.pop() as T // not empty: `one` is in it
    if (last === one) return
    this.#all[one.at] = last
    last.at = one.at
  }

  filter (chosen: (one: T) => boolean): T[] { return this.#all.filter(chosen) }
}
