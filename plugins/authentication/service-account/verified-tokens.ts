/** A cache of verified tokens by digest, bounded in number and time. */

interface CacheEntry<T> { readonly value: T, readonly until: number }

/** Milliseconds. Bindings are checked on every use, independently of this cache. */
const MAX_AGE_MS = 600_000

export class VerifiedTokens<T extends { readonly expires: number }> {
  readonly #kept = new Map<string, CacheEntry<T>>()
  readonly #maxEntries: number

  constructor (maxEntries = 16_384) { this.#maxEntries = maxEntries }

  get size (): number { return this.#kept.size }

  /** @param now milliseconds since 1970 */
  get (digest: string, now: number): T | undefined {
    const entry = this.#kept.get(digest)
    if (entry === undefined || now < entry.until) return entry?.value
    this.#kept.delete(digest)
    return undefined
  }

  /** @param value its `expires` is in seconds since 1970 */
  set (digest: string, value: T, now: number): void {
    if (this.#kept.size >= this.#maxEntries) {
      const [oldest] = this.#kept.keys()
      if (oldest !== undefined) this.#kept.delete(oldest)
    }
    this.#kept.set(digest, { value, until: Math.min(now + MAX_AGE_MS, value.expires * 1000) })
  }
}
