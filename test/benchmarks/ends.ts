/** What a run has started, ended with it in the opposite order, whatever happened. */
export class Ends implements AsyncDisposable {
  readonly #ends: Array<() => unknown> = []

  /** As a test has it. */
  teardown (end: () => unknown): void { this.#ends.push(end) }

  add<Started extends { stop: () => unknown }> (started: Started): Started {
    this.teardown(() => started.stop())
    return started
  }

  async [Symbol.asyncDispose] (): Promise<void> {
    for (const end of this.#ends.toReversed()) await end()
  }
}
