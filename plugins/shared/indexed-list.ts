/**
 * An unordered list with O(1) removal. Slots are reused: a Set that churns replaces its tables, and old ones keep
 * requests alive until the next full collection. An entry and its end take 0.17 µs, in a Set of 64 1.8 µs. Benchmark:
 * `npm run bench -- reads`, 'GET, 64 connections, HTTP/1.1, embedded'.
 */
export class IndexedList<T extends { at: number }> {
  readonly #all: T[] = []

  add (item: T): void {
    item.at = this.#all.length
    this.#all.push(item)
  }

  /** Does nothing if the item is absent. */
  remove (item: T): void {
    if (this.#all[item.at] !== item) return
    const last = this.#all.pop() as T // not empty: it contains `one`
    if (last === item) return
    this.#all[item.at] = last
    last.at = item.at
  }

  get all (): readonly T[] { return this.#all }

  filter (chosen: (item: T) => boolean): T[] { return this.#all.filter(chosen) }
}
