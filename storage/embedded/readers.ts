import type { Revision } from '../backend.js'

/** Pending reads, by revision: a compaction waits for those that need the versions it removes. */
export class Readers {
  readonly #counts = new Map<Revision, number>()
  #onDone: (() => void) | undefined

  async during<T> (revision: Revision, read: () => Promise<T>): Promise<T> {
    this.#counts.set(revision, (this.#counts.get(revision) ?? 0) + 1)
    try {
      return await read()
    } finally {
      const left = (this.#counts.get(revision) ?? 1) - 1
      if (left > 0) this.#counts.set(revision, left)
      else this.#counts.delete(revision)
      this.#onDone?.()
    }
  }

  /** Resolves when no read of an earlier revision is pending. One caller at a time. */
  async settledBefore (revision: Revision): Promise<void> {
    while ([...this.#counts.keys()].some(reader => reader < revision)) {
      await new Promise<void>(resolve => { this.#onDone = resolve })
    }
  }
}
