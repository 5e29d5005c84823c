/**
 * One read shared by all who wait for it. A read that is already on its way may have been answered before
 * the caller's question was asked, so a caller never joins that one, only the next.
 */
export class SharedRead<T> {
  readonly #read: () => Promise<T>
  #next: Promise<T> | undefined
  #underWay: Promise<unknown> = Promise.resolve()

  constructor (read: () => Promise<T>) {
    this.#read = read
  }

  /** The answer of a read that starts after this call. */
  ask (): Promise<T> {
    this.#next ??= this.#start()
    return this.#next
  }

  async #start (): Promise<T> {
    await this.#underWay
    // Whoever asks in the same turn of the loop joins.
    await new Promise<void>(resolve => setImmediate(resolve))
    this.#next = undefined
    const reading = this.#read()
    this.#underWay = reading.catch(() => {})
    return await reading
  }
}
