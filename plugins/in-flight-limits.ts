/**
 * Limits concurrent requests, separately for reads and mutations. Excess requests fail with 429 and Retry-After instead
 * of queueing. A request frees its place once its response is written or waits only for the client, so slow readers
 * block nobody; plugins/shared/unsent-responses.ts bounds the bytes they hold. Long-running requests, health probes and
 * administrators (system:masters) are exempt. Registered after impersonation, as it is about who acts, and before
 * authorization.
 * @see interface, 'Limits': --max-requests-inflight, --max-mutating-requests-inflight
 */
import type { FastifyReply } from 'fastify'
import { served, type LimitPlace } from '../answers/request-context.js'
import { READ_ONLY, type RequestInfo } from '../auth/request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import { tooManyRequests } from '../schemas/status.js'
import { requestKinds, type KindSeries } from './shared/in-flight-metrics.js'
import { isAdministrator, isLongRunning, isProbe } from './shared/request-kinds.js'
import { NOT_LISTED, UnsentResponses, type UnsentResponse } from './shared/unsent-responses.js'
import { plugin, type Having } from './shared/plugin.js'

export interface InFlightOptions {
  /** Concurrent reads; 0 means unlimited. Default 400. */
  reading?: number | undefined
  /** Concurrent mutations; 0 means unlimited. Default 200. */
  mutating?: number | undefined
}

const RETRY_AFTER_SECONDS = 1

/** The limit that applies to a request, or undefined. */
export function kindOf (info: RequestInfo, user: UserInfo | undefined): 'readOnly' | 'mutating' | undefined {
  if (isLongRunning(info) || isAdministrator(user)) return undefined
  if (!info.isResourceRequest && isProbe(info.path)) return undefined
  return READ_ONLY.has(info.verb) ? 'readOnly' : 'mutating'
}

interface Pool { readonly limit: number, used: number, readonly kind: KindSeries }

/**
 * One request's place, released once: early if the response waits only for its client, otherwise when the request ends.
 */
class Place implements UnsentResponse, LimitPlace {
  readonly reply: FastifyReply
  at = NOT_LISTED
  bytes = 0
  readonly #pool: Pool
  readonly #unsent: UnsentResponses
  #free = false
  #over = false

  constructor (pool: Pool, unsent: UnsentResponses, reply: FastifyReply) {
    this.#pool = pool
    this.#unsent = unsent
    this.reply = reply
    pool.used++
    pool.kind.executing(1)
  }

  handedOver (bytes: number): void {
    if (!this.#over && this.#unsent.hold(this, bytes)) this.release()
  }

  closed (): void {
    this.#over = true
    this.#unsent.drop(this)
    this.release()
  }

  release (): void {
    if (this.#free) return
    this.#free = true
    this.#pool.used--
    this.#pool.kind.executing(-1)
  }
}

async function inFlightLimits (
  fastify: Having<'orchMetrics'>, { reading = 400, mutating = 200 }: InFlightOptions
): Promise<void> {
  const kinds = requestKinds(fastify.orchMetrics, { readOnly: reading, mutating })
  const pool = (kind: 'readOnly' | 'mutating', limit: number) => {
    return { limit: limit === 0 ? Infinity : limit, used: 0, kind: kinds[kind] }
  }
  const pools = { readOnly: pool('readOnly', reading), mutating: pool('mutating', mutating) }

  const unsent = new UnsentResponses(fastify.log)
  fastify.addHook('onRequest', (request, reply, done) => {
    const { orch } = served(request)
    const kind = kindOf(orch.info, orch.user)
    if (kind === undefined) {
      done()
      return
    }
    const state = pools[kind]
    if (state.used >= state.limit) {
      state.kind.dropped.add()
      done(tooManyRequests('too many requests are under way, please try again later', RETRY_AFTER_SECONDS))
      return
    }
    orch.occupy(new Place(state, unsent, reply))
    done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    unsent.close()
    done()
  })
  // Code that bypasses Fastify to write, or that streams, calls `handedOver` itself.
  fastify.addHook('onSend', (request, _reply, payload, done) => {
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) request.orch?.handedOver(payload.length)
    done()
  })
}

export default plugin<InFlightOptions>()(inFlightLimits, {
  name: 'orch/in-flight-limits',
  fastify: '5.x',
  dependencies: ['orch/impersonation'],
  decorators: { fastify: ['orchMetrics'], request: ['orch'] }
})
