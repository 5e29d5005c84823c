/** Buckets of tokens by key: so many come each second, up to a burst. The keys that were used last are remembered. */
export interface BucketOptions { readonly qps: number, readonly burst: number, /** Keys that are remembered. */ readonly cacheSize: number }

export class Buckets {
  readonly #options: BucketOptions
  readonly #elapsed: () => number
  readonly #buckets = new Map<string, { tokens: number, at: number }>()

  /** @param elapsed milliseconds */
  constructor (options: BucketOptions, elapsed: () => number) {
    this.#options = options
    this.#elapsed = elapsed
  }

  /** Whether there was one. */
  take (key: string): boolean {
    const { qps, burst, cacheSize } = this.#options
    const now = this.#elapsed()
    const { tokens, at } = this.#buckets.get(key) ?? { tokens: burst, at: now }
    const there = Math.min(burst, tokens + (now - at) / 1000 * qps)
    const taken = there >= 1
    this.#buckets.delete(key) // and it is the last of them again
    this.#buckets.set(key, { tokens: taken ? there - 1 : there, at: now })
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > cacheSize && oldest !== undefined) this.#buckets.delete(oldest)
    return taken
  }
}
