/**
 * Buffers events for batch mode. A batch is sent when it is full or old enough, within the throttle. Events that find
 * the buffer full are dropped and counted; requests never wait.
 * @see interface, 'Audit events', the flags of batches
 */

export interface BatchOptions {
  /** Maximum buffered events. Default 10,000. */
  readonly bufferSize?: number
  /** Maximum events per batch. Default 400. */
  readonly maxSize?: number
  /** Milliseconds after which an incomplete batch is sent. Default 30,000; 0 waits until it is full. */
  readonly maxWait?: number
  /** Maximum characters of buffered and in-flight events, which can contain large objects. Default 256 Mi. */
  readonly maxCharacters?: number
  /** Average batches per second, and burst. Default unlimited. */
  readonly throttle?: { readonly qps: number, readonly burst: number } | undefined
}

/** Resolves when the items are delivered; rejects if they are lost. */
export type Deliver = (items: readonly string[]) => Promise<void>

/** Reports lost events. `part` names the component that dropped them, if not the back end itself. */
export type OnLost = (count: number, error: unknown, part?: 'buffered' | 'truncate') => void

export interface BatchContext {
  readonly deliver: Deliver
  /** Concurrent deliveries. Default 1, which preserves order. */
  readonly maxInFlight?: number
  readonly lost: OnLost
  /** Monotonic clock, milliseconds. */
  readonly now?: () => number
}

export class Batches {
  readonly #waiting: string[] = []
  readonly #options: Required<Omit<BatchOptions, 'throttle'>>
  readonly #throttle: BatchOptions['throttle']
  readonly #context: Required<BatchContext>
  readonly #inFlight = new Set<Promise<void>>()
  /** Characters of buffered and in-flight events. */
  #held = 0
  #tokens: number
  #countedAt: number
  /** Arrival time of the oldest buffered event. */
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #closing = false

  constructor (
    { bufferSize = 10_000, maxSize = 400, maxWait = 30_000, maxCharacters = 256 * 1024 * 1024, throttle }: BatchOptions,
    { maxInFlight = 1, now = performance.now.bind(performance), ...context }: BatchContext
  ) {
    this.#options = { bufferSize, maxSize, maxWait, maxCharacters }
    this.#throttle = throttle
    this.#context = { maxInFlight, now, ...context }
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

  /** Returns why an event of this size is rejected, or undefined. */
  #refused (characters: number): string | undefined {
    const { bufferSize, maxCharacters } = this.#options
    if (this.#closing) return 'the server is closing'
    if (this.#waiting.length >= bufferSize) return `more than ${bufferSize} events wait`
    return this.#held > 0 && this.#held + characters > maxCharacters
      ? `more than ${maxCharacters} characters wait`
      : undefined
  }

  /** Sends all buffered events; resolves when they are delivered or lost. */
  async close (): Promise<void> {
    this.#closing = true
    this.#go()
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight)
  }

  #go (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { maxSize } = this.#options
    while (this.#waiting.length > 0 && this.#inFlight.size < this.#context.maxInFlight) {
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
      this.#inFlight.delete(sent)
      for (const { length } of items) this.#held -= length
      this.#go()
    })
    this.#inFlight.add(sent)
  }

  /** Milliseconds until an incomplete batch is sent. */
  #fillMs (): number {
    const { maxSize, maxWait } = this.#options
    if (this.#waiting.length >= maxSize) return 0
    return maxWait === 0 ? Infinity : this.#since + maxWait - this.#context.now()
  }

  /** Milliseconds until the throttle permits the next batch. */
  #throttleMs (): number {
    if (this.#throttle === undefined) return 0
    const { qps, burst } = this.#throttle
    const now = this.#context.now()
    this.#tokens = Math.min(Math.max(1, burst), this.#tokens + (now - this.#countedAt) / 1000 * qps)
    this.#countedAt = now
    return this.#tokens >= 1 ? 0 : qps > 0 ? (1 - this.#tokens) / qps * 1000 : Infinity
  }
}
