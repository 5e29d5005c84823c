/**
 * What a service that is slow to ask has said: kept for a while, in bounded number and size. Who asks while the same question is
 * under way waits for its answer. What could not be found out is not kept.
 */
import type { Ruling } from '../../auth/authorizer.js'

export interface DecisionCacheOptions {
  /** Does not reject: a failure is a ruling with an `evaluationError`. */
  readonly lookup: (question: string) => Promise<Ruling>
  /** Milliseconds a decision that allows is kept; 0 never. */
  readonly allowed: number
  /** Milliseconds any other is kept. */
  readonly others: number
  /** Decisions that are kept. Default 8192. */
  readonly most?: number
  /** Questions under way at once; more are not asked. Default 1024. */
  readonly mostUnderWay?: number
  /** Milliseconds on a clock that never goes back. */
  readonly now?: () => number
}

/** Characters of a question whose answer is kept: who sends long names does not fill the memory with them. */
const LONGEST_KEPT = 10_000

export class DecisionCache {
  readonly #options: DecisionCacheOptions
  readonly #kept = new Map<string, { readonly ruling: Ruling, readonly until: number }>()
  readonly #underWay = new Map<string, Promise<Ruling>>()

  constructor (options: DecisionCacheOptions) { this.#options = options }

  /** At once when it is known. */
  find (question: string): Ruling | Promise<Ruling> {
    const { now = performance.now.bind(performance), mostUnderWay = 1024, lookup } = this.#options
    const kept = this.#kept.get(question)
    if (kept !== undefined && now() < kept.until) return kept.ruling
    this.#kept.delete(question)
    const known = this.#underWay.get(question)
    if (known !== undefined) return known
    if (this.#underWay.size >= mostUnderWay) return { decision: 'NoOpinion', evaluationError: new Error(`more than ${mostUnderWay} decisions are being looked up`) }
    const asked = lookup(question).then(ruling => {
      this.#underWay.delete(question)
      if (question.length <= LONGEST_KEPT && ruling.evaluationError === undefined) this.#keep(question, ruling, now())
      return ruling
    })
    this.#underWay.set(question, asked)
    return asked
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
