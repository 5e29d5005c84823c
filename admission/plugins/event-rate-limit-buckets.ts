/** Token buckets by key, with a limited number of keys, least recently used first out. */
export interface BucketOptions {
  readonly qps: number
  readonly burst: number
  /** Maximum number of keys. */
  readonly cacheSize: number
}

export class Buckets {
  readonly #options: BucketOptions
  readonly #elapsed: () => number
  readonly #buckets = new Map<string, { tokens: number, at: number }>()

  /** @param elapsed returns milliseconds */
  constructor (options: BucketOptions, elapsed: () => number) {
    this.#options = options
    this.#elapsed = elapsed
  }

  /** Takes a token; returns false if there was none. */
  take (key: string): boolean {
    const { qps, burst, cacheSize } = this.#options
    const now = this.#elapsed()
    const { tokens, at } = this.#buckets.get(key) ?? { tokens: burst, at: now }
    const available = Math.min(burst, tokens + (now - at) / 1000 * qps)
    const taken = available >= 1
    this.#buckets.delete(key) // moves the key to the end
    this.#buckets.set(key, { tokens: taken ? available - 1 : available, at: now })
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > cacheSize && oldest !== undefined) this.#buckets.delete(oldest)
    return taken
  }
}
