/**
 * What a method that is slow to ask has said of tokens: kept for a while, in bounded number, under a keyed hash of the token and
 * the audiences, so that no token is in memory for it and nobody can make two that are taken for one. Who asks while the same
 * question is under way waits for its answer. Failures are not kept.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { OrchServer } from '../server.js'
import type { Found } from './chain.js'

export interface TokenAnswer {
  /** Undefined when the token is nobody's. */
  readonly found: Found
  /** Milliseconds since 1970 after which it is not true any more. */
  readonly until?: number
}

export interface TokenCacheOptions {
  /** @throws what has kept it from an answer */
  readonly lookup: (token: string, audiences: readonly string[] | undefined) => Promise<TokenAnswer>
  /** Milliseconds an answer with a user is kept; 0 never. */
  readonly known: number
  /** Milliseconds an answer without one is kept. */
  readonly unknown: number
  readonly metrics: OrchServer['metrics']
  /** Answers that are kept, of those with a user and of those without: strangers push nobody out. Default 4096. */
  readonly most?: number
  /** Questions under way at once; more fail. Default 1024. */
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

  /** At once when it is known. Rejects with what the question has failed with. */
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
    const asked = this.#options.lookup(token, audiences).then(
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
    this.#underWay.set(key, asked)
    return asked
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
