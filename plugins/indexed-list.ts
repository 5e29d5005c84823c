/**
 * An unordered list with O(1) removal. Slots are reused: a map that churns replaces its tables, and old ones keep requests alive until the
 * next full collection.
 */
export class IndexedList<T extends { at: number }> {
  readonly #all: T[] = []

  add (one: T): void {
    one.at = this.#all.length
    this.#all.push(one)
  }

  /** Does nothing if the item is absent. */
  remove (one: T): void {
    if (this.#all[one.at] !== one) return
    const last = this.#all.pop() as T // not empty: it contains `one`
    if (last === one) return
    this.#all[one.at] = last
    last.at = one.at
  }

  filter (chosen: (one: T) => boolean): T[] { return this.#all.filter(chosen) }
}
