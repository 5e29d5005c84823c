/** Ends everything that a run has started, in reverse order, whatever happens. */
export class Ends implements AsyncDisposable {
  readonly #ends: Array<() => unknown> = []

  /** The method of a tap test. */
  teardown (end: () => unknown): void { this.#ends.push(end) }

  add<Started extends { stop: () => unknown }> (started: Started): Started {
    this.teardown(() => started.stop())
    return started
  }

  async [Symbol.asyncDispose] (): Promise<void> {
    for (const end of this.#ends.toReversed()) await end()
  }
}
