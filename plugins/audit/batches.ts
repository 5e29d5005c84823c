/**
 * Events on their way to a back end in batch mode: kept until a batch is full or its time has come, given out no faster than a
 * throttle allows. What finds the buffer full is lost, and counted: nobody waits for a back end that is slow.
 *
 * @see interface, 'Audit events', the flags of batches
 */

export interface BatchOptions {
  /** Events that wait. Default 10,000. */
  readonly bufferSize?: number
  /** Events of a batch. Default 400. */
  readonly maxSize?: number
  /** Milliseconds until a batch goes that is not full. Default 30,000; 0 waits until it is. */
  readonly maxWait?: number
  /** Characters of all events that wait or are on their way: they are as large as what is asked and answered. Default 256 Mi. */
  readonly mostCharacters?: number
  /** Batches a second on average, and at once. Default without bound. */
  readonly throttle?: { readonly qps: number, readonly burst: number } | undefined
}

/** Settles when they have arrived, or rejects when they never will. */
export type Deliver = (items: readonly string[]) => Promise<void>

/** Told how many events are lost, and why; and by what, where that is not whoever delivers them. */
export type Lost = (count: number, error: unknown, part?: 'buffered' | 'truncate') => void

export interface BatchContext {
  readonly deliver: Deliver
  /** Deliveries under way at once. Default 1, which keeps their order. */
  readonly atOnce?: number
  readonly lost: Lost
  /** Milliseconds on a clock that never goes back. */
  readonly now?: () => number
}

export class Batches {
  readonly #waiting: string[] = []
  readonly #options: Required<Omit<BatchOptions, 'throttle'>>
  readonly #throttle: BatchOptions['throttle']
  readonly #context: Required<BatchContext>
  readonly #underWay = new Set<Promise<void>>()
  /** Characters that wait or are on their way. */
  #held = 0
  #tokens: number
  #countedAt: number
  /** When the first of those that wait came. */
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #closing = false

  constructor ({ bufferSize = 10_000, maxSize = 400, maxWait = 30_000, mostCharacters = 256 * 1024 * 1024, throttle }: BatchOptions, { atOnce = 1, now = performance.now.bind(performance), ...context }: BatchContext) {
    this.#options = { bufferSize, maxSize, maxWait, mostCharacters }
    this.#throttle = throttle
    this.#context = { atOnce, now, ...context }
    this.#tokens = throttle?.burst ?? 0
    this.#countedAt = now()
  }

  add (item: string): void {
    const refused = this.#refused(item.length)
    if (refused !== undefined) return this.#context.lost(1, new Error(refused), 'buffered')
    const { maxSize } = this.#options
    this.#held += item.length
    if (this.#waiting.push(item) === 1) this.#since = this.#context.now()
    if (this.#waiting.length === 1 || this.#waiting.length >= maxSize) this.#go()
  }

  /** Why an event of so many characters is not kept. */
  #refused (characters: number): string | undefined {
    const { bufferSize, mostCharacters } = this.#options
    if (this.#closing) return 'the server is closing'
    if (this.#waiting.length >= bufferSize) return `more than ${bufferSize} events wait`
    return this.#held > 0 && this.#held + characters > mostCharacters ? `more than ${mostCharacters} characters wait` : undefined
  }

  /** Gives out all that waits, and resolves when it has arrived or is lost. */
  async close (): Promise<void> {
    this.#closing = true
    this.#go()
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  #go (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { maxSize } = this.#options
    while (this.#waiting.length > 0 && this.#underWay.size < this.#context.atOnce) {
      const wait = this.#closing ? 0 : Math.max(this.#fillMs(), this.#throttleMs())
      if (wait > 0) {
        if (wait < Infinity) this.#timer = setTimeout(() => { this.#go() }, Math.ceil(wait)).unref()
        return
      }
      this.#tokens--
      this.#send(this.#waiting.splice(0, maxSize))
      this.#since = this.#context.now()
    }
  }

  #send (items: readonly string[]): void {
    const { deliver, lost } = this.#context
    const sent = deliver(items).catch((error: unknown) => { lost(items.length, error) }).finally(() => {
      this.#underWay.delete(sent)
      for (const { length } of items) this.#held -= length
      this.#go()
    })
    this.#underWay.add(sent)
  }

  /** Milliseconds until the batch goes though it is not full. */
  #fillMs (): number {
    const { maxSize, maxWait } = this.#options
    if (this.#waiting.length >= maxSize) return 0
    return maxWait === 0 ? Infinity : this.#since + maxWait - this.#context.now()
  }

  /** Milliseconds until the throttle lets another one go. */
  #throttleMs (): number {
    if (this.#throttle === undefined) return 0
    const { qps, burst } = this.#throttle
    const now = this.#context.now()
    this.#tokens = Math.min(Math.max(1, burst), this.#tokens + (now - this.#countedAt) / 1000 * qps)
    this.#countedAt = now
    return this.#tokens >= 1 ? 0 : qps > 0 ? (1 - this.#tokens) / qps * 1000 : Infinity
  }
}
