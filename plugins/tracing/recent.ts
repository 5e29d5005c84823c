/** Keeps the latest slow requests for the front page. */
import type { RequestContext } from '../../answers/request-context.js'

export interface SlowRequest {
  readonly endedAt: Date
  readonly verb: string
  readonly path: string
  readonly username: string
  readonly milliseconds: number
}

const KEPT = 10
/** Maximum characters of a path or a name. */
const MAX_LENGTH = 300

export class RecentlySlow {
  readonly #kept: SlowRequest[] = []

  /** @param request that has ended */
  add ({ info, user, trace: { startedAt, endedAt = startedAt } }: RequestContext): void {
    if (this.#kept.length === KEPT) this.#kept.shift()
    this.#kept.push({
      endedAt: new Date(), verb: info.verb, path: info.path.slice(0, MAX_LENGTH),
      username: user?.username.slice(0, MAX_LENGTH) ?? '', milliseconds: endedAt - startedAt
    })
  }

  newestFirst (): SlowRequest[] { return [...this.#kept].reverse() }
}
