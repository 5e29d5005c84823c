/**
 * Shares one read among concurrent callers. A caller never joins a read that has already started, because its result
 * may predate the call. Benchmark: `npm run bench -- reads`, 'reads asked of etcd, of 64 connections': 1 without it.
 */
export class SharedRead<T> {
  readonly #read: () => Promise<T>
  #next: Promise<T> | undefined
  #pending: Promise<unknown> = Promise.resolve()

  constructor (read: () => Promise<T>) {
    this.#read = read
  }

  /** The result of a read that starts after this call. */
  ask (): Promise<T> {
    this.#next ??= this.#start()
    return this.#next
  }

  async #start (): Promise<T> {
    await this.#pending
    // Callers in the same event loop turn share the read.
    await new Promise<void>(resolve => setImmediate(resolve))
    this.#next = undefined
    const reading = this.#read()
    this.#pending = reading.catch(() => {})
    return await reading
  }
}
