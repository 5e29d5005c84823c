/**
 * How many requests are answered at a time, reading and changing ones counted apart. One too many is
 * refused with 429 and Retry-After rather than queued: cheap for the server, clear to the client.
 * Long-running requests have their own bounds, probes of health have to be answered when it matters, and
 * administrators (system:masters) have to get in to mend what is wrong; none of these is counted.
 *
 * It stands behind authentication, which tells administrators from others, and before authorization.
 *
 * @see interface, 'Limits': --max-requests-inflight, --max-mutating-requests-inflight
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { READ_ONLY, type RequestInfo, type UserInfo } from '../schemas/request.js'
import { tooManyRequests } from '../schemas/status.js'
import { isLongRunning, isProbe } from './request-kinds.js'

export interface InFlightOptions {
  /** Reading requests at a time; 0 is no limit. Default 400. */
  reading?: number
  /** Changing requests at a time; 0 is no limit. Default 200. */
  mutating?: number
}

const MASTERS = 'system:masters'
const RETRY_AFTER_SECONDS = 1

/** Which limit holds for a request, if any. */
export function kindOf (info: RequestInfo, user: UserInfo | undefined): 'readOnly' | 'mutating' | undefined {
  if (isLongRunning(info) || user?.groups.includes(MASTERS) === true) return undefined
  if (!info.isResourceRequest && isProbe(info.path)) return undefined
  return READ_ONLY.has(info.verb) ? 'readOnly' : 'mutating'
}

async function inFlightLimits (fastify: FastifyInstance, { reading = 400, mutating = 200 }: InFlightOptions): Promise<void> {
  const dropped = fastify.orch.metrics.counter('apiserver_dropped_requests_total', 'Requests refused because too many were under way.', ['request_kind'])
  const pool = (kind: string, limit: number) => {
    const state = { limit: limit === 0 ? Infinity : limit, used: 0, release: (): void => { state.used-- }, refused: dropped.with(kind) }
    return state
  }
  const pools = { readOnly: pool('readOnly', reading), mutating: pool('mutating', mutating) }

  fastify.addHook('onRequest', (request, _reply, done) => {
    const kind = kindOf(request.orch.info, request.orch.user)
    if (kind === undefined) {
      done()
      return
    }
    const state = pools[kind]
    if (state.used >= state.limit) {
      state.refused.add()
      done(tooManyRequests('too many requests are under way, please try again later', RETRY_AFTER_SECONDS))
      return
    }
    state.used++
    request.orch.onClosed(state.release)
    done()
  })
}

export default fp(inFlightLimits, { name: 'orch/in-flight-limits', fastify: '5.x', dependencies: ['orch/metrics', 'orch/authentication'] })
