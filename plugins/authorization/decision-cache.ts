/**
 * Caches the decisions of a slow authorizer for a limited time, number and size. Concurrent lookups of the same request are shared.
 * Failures are not cached.
 */
import type { Ruling } from '../../auth/authorizer.js'

export interface DecisionCacheOptions {
  /** Never rejects: a failure is a ruling with an `evaluationError`. */
  readonly lookup: (question: string) => Promise<Ruling>
  /** Milliseconds to cache an Allow; 0 disables caching. */
  readonly allowed: number
  /** Milliseconds to cache any other decision. */
  readonly others: number
  /** Maximum cached decisions. Default 8192. */
  readonly most?: number
  /** Maximum concurrent lookups; more fail. Default 1024. */
  readonly mostUnderWay?: number
  /** Monotonic clock, milliseconds. */
  readonly now?: () => number
}

/** Maximum characters of a cached key, so that long names do not fill the memory. */
const LONGEST_KEPT = 10_000

export class DecisionCache {
  readonly #options: DecisionCacheOptions
  readonly #kept = new Map<string, { readonly ruling: Ruling, readonly until: number }>()
  readonly #underWay = new Map<string, Promise<Ruling>>()

  constructor (options: DecisionCacheOptions) { this.#options = options }

  /** Synchronous if cached. */
  find (question: string): Ruling | Promise<Ruling> {
    const { now = performance.now.bind(performance), mostUnderWay = 1024, lookup } = this.#options
    const kept = this.#kept.get(question)
    if (kept !== undefined && now() < kept.until) return kept.ruling
    this.#kept.delete(question)
    const known = this.#underWay.get(question)
    if (known !== undefined) return known
    if (this.#underWay.size >= mostUnderWay) return { decision: 'NoOpinion', evaluationError: new Error(`more than ${mostUnderWay} decisions are being looked up`) }
    const pending = lookup(question).then(ruling => {
      this.#underWay.delete(question)
      if (question.length <= LONGEST_KEPT && ruling.evaluationError === undefined) this.#keep(question, ruling, now())
      return ruling
    })
    this.#underWay.set(question, pending)
    return pending
  }

  #keep (question: string, ruling: Ruling, now: number): void {
    const { allowed, others, most = 8192 } = this.#options
    const time = ruling.decision === 'Allow' ? allowed : others
    if (time <= 0) return
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined && this.#kept.size >= most) this.#kept.delete(oldest)
    this.#kept.set(question, { ruling, until: now + time })
  }
}
