/**
 * Caches the answers of slow lookups, such as those of webhooks, for a limited time and number. Concurrent lookups of a
 * key are shared; failures are not cached. Positive and negative answers have a limit each, so that unknown tokens,
 * which anybody can send, evict no known ones.
 */
export interface Answer<Value> {
  readonly value: Value
  readonly positive: boolean
  /** Milliseconds to cache it; 0 or less for not at all. */
  readonly keepMs: number
}

export interface AnswerCacheOptions {
  /** Maximum cached answers of each sort. */
  readonly maxEntries: number
  /** Maximum concurrent lookups; more fail. Default 1024. */
  readonly maxLookups?: number
  /** Monotonic clock, milliseconds. */
  readonly now?: () => number
}

interface Cached<Value> { readonly value: Value, readonly until: number }

export class AnswerCache<Value> {
  readonly #positive = new Map<string, Cached<Value>>()
  readonly #negative = new Map<string, Cached<Value>>()
  readonly #pending = new Map<string, Promise<Value>>()
  readonly #maxEntries: number
  readonly #maxLookups: number
  readonly #now: () => number

  constructor ({ maxEntries, maxLookups = 1024, now = () => performance.now() }: AnswerCacheOptions) {
    this.#maxEntries = maxEntries
    this.#maxLookups = maxLookups
    this.#now = now
  }

  /** Undefined if the answer is not cached. */
  get (key: string): { readonly value: Value } | undefined {
    const cached = this.#positive.get(key) ?? this.#negative.get(key)
    return cached !== undefined && this.#now() < cached.until ? cached : undefined
  }

  /**
   * Waits for the pending lookup of the key, else starts one.
   * @throws Error if too many are pending; whatever `lookup` throws
   */
  async fetch (key: string, lookup: () => Promise<Answer<Value>>): Promise<Value> {
    const pending = this.#pending.get(key)
    if (pending !== undefined) return await pending
    if (this.#pending.size >= this.#maxLookups) throw new Error(`more than ${this.#maxLookups} lookups are pending`)
    const started = lookup().then(answer => this.#keep(key, answer)).finally(() => { this.#pending.delete(key) })
    this.#pending.set(key, started)
    return await started
  }

  #keep (key: string, { value, positive, keepMs }: Answer<Value>): Value {
    this.#positive.delete(key)
    this.#negative.delete(key)
    if (keepMs <= 0) return value
    const answers = positive ? this.#positive : this.#negative
    const [oldest] = answers.keys()
    if (oldest !== undefined && answers.size >= this.#maxEntries) answers.delete(oldest)
    answers.set(key, { value, until: this.#now() + keepMs })
    return value
  }
}
