/**
 * Caches the results of slow token lookups and measures them. Keys are keyed hashes of token and audiences, so that
 * memory holds no tokens and collisions cannot be constructed. A hit spares a call to another server, a hundred
 * microseconds or more. Benchmark: `npm run bench -- hooks`, 'one webhook over TLS, added to a create, beside a bare
 * call', is such a call.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { AnswerCache, type Answer, type AnswerCacheOptions } from '../../clients/answer-cache.js'
import type { Clock } from '../../event-loop/clock.js'
import type { Metrics } from '../shared/metric-series.js'
import type { Found } from './chain.js'

export interface TokenAnswer {
  /** Undefined if the token is unknown. */
  readonly found: Found
  /** Milliseconds since 1970 at which the result expires, on the server's clock. */
  readonly until?: number
}

export interface TokenCacheOptions extends Pick<AnswerCacheOptions, 'maxLookups'>, Partial<Pick<
  AnswerCacheOptions, 'maxEntries'
>> {
  readonly clock: Pick<Clock, 'wall' | 'elapsed'>
  /** @throws Error if the lookup fails */
  readonly lookup: (token: string, audiences: readonly string[] | undefined) => Promise<TokenAnswer>
  /** Milliseconds to cache a result with a user; 0 disables caching. */
  readonly known: number
  /** Milliseconds to cache a result without a user. */
  readonly unknown: number
  readonly metrics: Metrics
}

const MAX_ENTRIES = 4096
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const NAME = 'authentication_token_cache'

export class TokenCache {
  readonly #options: TokenCacheOptions
  readonly #secret = randomBytes(32)
  readonly #cache: AnswerCache<Found>
  readonly #metrics: ReturnType<typeof declare>

  constructor (options: TokenCacheOptions) {
    this.#options = options
    this.#cache = new AnswerCache({ maxEntries: MAX_ENTRIES, ...options, now: options.clock.elapsed })
    this.#metrics = declare(options.metrics)
  }

  /** Synchronous if cached. Rejects if the lookup fails. */
  find (token: string, audiences?: readonly string[]): Found | Promise<Found> {
    const key = createHmac('sha256', this.#secret).update(JSON.stringify([audiences ?? null, token])).digest('base64')
    const cached = this.#cache.get(key)
    if (cached !== undefined) {
      this.#metrics.hit.add()
      return cached.value
    }
    this.#metrics.miss.add()
    return this.#cache.fetch(key, () => this.#lookup(token, audiences))
  }

  async #lookup (token: string, audiences: readonly string[] | undefined): Promise<Answer<Found>> {
    const { active, fetched, failed, missTime } = this.#metrics
    const { lookup, known, unknown } = this.#options
    const since = performance.now()
    active.add(1)
    try {
      const { found: result, until = Infinity } = await lookup(token, audiences)
      fetched.add()
      const positive = result !== undefined
      return {
        value: result, positive, keepMs: Math.min(positive ? known : unknown, until - this.#options.clock.wall())
      }
    } catch (error) {
      failed.add()
      throw error
    } finally {
      active.add(-1)
      missTime.observe((performance.now() - since) / 1000)
    }
  }
}

function declare (metrics: Metrics) {
  const requests = metrics.counter(
    `${NAME}_request_total`, 'Tokens looked for in the cache, by whether they were there.', ['status']
  )
  const fetches = metrics.counter(
    `${NAME}_fetch_total`, 'Questions about tokens that the cache did not know, by result.', ['status']
  )
  return {
    hit: requests.with('hit'),
    miss: requests.with('miss'),
    fetched: fetches.with('ok'),
    failed: fetches.with('error'),
    active: metrics.gauge(`${NAME}_active_fetch_count`, 'Questions about tokens under way.', ['status'])
      .with('in_flight'),
    missTime: metrics.histogram(
      `${NAME}_request_duration_seconds`, 'Seconds for tokens that the cache did not know.', SECONDS, ['status']
    )
      .with('miss')
  }
}
