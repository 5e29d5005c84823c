/**
 * Caches the results of slow token lookups for a limited time and number. Keys are keyed hashes of token and audiences, so that memory
 * holds no tokens and collisions cannot be constructed. Concurrent lookups of a token are shared. Failures are not cached.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { OrchServer } from '../server.js'
import type { Found } from './chain.js'

export interface TokenAnswer {
  /** Undefined if the token is unknown. */
  readonly found: Found
  /** Milliseconds since 1970 at which the result expires. */
  readonly until?: number
}

export interface TokenCacheOptions {
  /** @throws Error if the lookup fails */
  readonly lookup: (token: string, audiences: readonly string[] | undefined) => Promise<TokenAnswer>
  /** Milliseconds to cache a result with a user; 0 disables caching. */
  readonly known: number
  /** Milliseconds to cache a result without a user. */
  readonly unknown: number
  readonly metrics: OrchServer['metrics']
  /** Maximum cached results, separately for known and unknown tokens, so that unknown ones evict no known ones. Default 4096. */
  readonly most?: number
  /** Maximum concurrent lookups; more fail. Default 1024. */
  readonly mostUnderWay?: number
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

interface Kept { readonly found: Found, readonly until: number }

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const NAME = 'authentication_token_cache'

export class TokenCache {
  readonly #options: TokenCacheOptions
  readonly #secret = randomBytes(32)
  readonly #known = new Map<string, Kept>()
  readonly #unknown = new Map<string, Kept>()
  readonly #underWay = new Map<string, Promise<Found>>()
  readonly #metrics: ReturnType<typeof declare>

  constructor (options: TokenCacheOptions) {
    this.#options = options
    this.#metrics = declare(options.metrics)
  }

  /** Synchronous if cached. Rejects if the lookup fails. */
  find (token: string, audiences?: readonly string[]): Found | Promise<Found> {
    const { now = Date.now } = this.#options
    const key = createHmac('sha256', this.#secret).update(JSON.stringify([audiences ?? null, token])).digest('base64')
    const kept = this.#known.get(key) ?? this.#unknown.get(key)
    if (kept !== undefined && now() < kept.until) {
      this.#metrics.hit.add()
      return kept.found
    }
    if (kept !== undefined) (kept.found === undefined ? this.#unknown : this.#known).delete(key)
    this.#metrics.miss.add()
    return this.#ask(key, token, audiences)
  }

  #ask (key: string, token: string, audiences: readonly string[] | undefined): Promise<Found> {
    const known = this.#underWay.get(key)
    if (known !== undefined) return known
    const { mostUnderWay = 1024 } = this.#options
    if (this.#underWay.size >= mostUnderWay) return Promise.reject(new Error(`more than ${mostUnderWay} tokens are being looked up`))
    const { active, fetched, failed, missTime } = this.#metrics
    const since = performance.now()
    active.add(1)
    const pending = this.#options.lookup(token, audiences).then(
      answer => {
        fetched.add()
        this.#keep(key, answer)
        return answer.found
      },
      (error: unknown) => {
        failed.add()
        throw error
      }
    ).finally(() => {
      active.add(-1)
      missTime.observe((performance.now() - since) / 1000)
      this.#underWay.delete(key)
    })
    this.#underWay.set(key, pending)
    return pending
  }

  #keep (key: string, { found, until = Infinity }: TokenAnswer): void {
    const { known, unknown, most = 4096, now = Date.now } = this.#options
    const time = found === undefined ? unknown : known
    if (time <= 0) return
    const answers = found === undefined ? this.#unknown : this.#known
    const [oldest] = answers.keys()
    if (oldest !== undefined && answers.size >= most) answers.delete(oldest)
    answers.set(key, { found, until: Math.min(now() + time, until) })
  }
}

function declare (metrics: OrchServer['metrics']) {
  const requests = metrics.counter(`${NAME}_request_total`, 'Tokens looked for in the cache, by whether they were there.', ['status'])
  const fetches = metrics.counter(`${NAME}_fetch_total`, 'Questions about tokens that the cache did not know, by result.', ['status'])
  return {
    hit: requests.with('hit'),
    miss: requests.with('miss'),
    fetched: fetches.with('ok'),
    failed: fetches.with('error'),
    active: metrics.gauge(`${NAME}_active_fetch_count`, 'Questions about tokens under way.', ['status']).with('in_flight'),
    missTime: metrics.histogram(`${NAME}_request_duration_seconds`, 'Seconds for tokens that the cache did not know.', SECONDS, ['status']).with('miss')
  }
}
