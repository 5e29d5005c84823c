/**
 * How many requests are answered at a time, reading and changing ones counted apart. One too many is
 * refused with 429 and Retry-After rather than queued: cheap for the server, clear to the client.
 * A place is free again when the answer is handed over whole or waits for its client, so that a client that does not read
 * its answers keeps nobody out. The bytes that wait so are in plugins/unsent-responses.ts, which bounds them.
 * Long-running requests have their own bounds, probes of health have to be answered when it matters, and
 * administrators (system:masters) have to get in to mend what is wrong; none of these is counted.
 *
 * It stands behind authentication, which tells administrators from others, and before authorization.
 *
 * @see interface, 'Limits': --max-requests-inflight, --max-mutating-requests-inflight
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { READ_ONLY, type RequestInfo } from '../auth/request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import { tooManyRequests } from '../schemas/status.js'
import type { HeldPlace } from './context.js'
import { requestKinds, type KindSeries } from './in-flight-metrics.js'
import { isAdministrator, isLongRunning, isProbe } from './request-kinds.js'
import { NOWHERE, UnsentResponses, type UnsentResponse } from './unsent-responses.js'

export interface InFlightOptions {
  /** Reading requests at a time; 0 is no limit. Default 400. */
  reading?: number | undefined
  /** Changing requests at a time; 0 is no limit. Default 200. */
  mutating?: number | undefined
}

const RETRY_AFTER_SECONDS = 1

/** Which limit holds for a request, if any. */
export function kindOf (info: RequestInfo, user: UserInfo | undefined): 'readOnly' | 'mutating' | undefined {
  if (isLongRunning(info) || isAdministrator(user)) return undefined
  if (!info.isResourceRequest && isProbe(info.path)) return undefined
  return READ_ONLY.has(info.verb) ? 'readOnly' : 'mutating'
}

interface Pool { readonly limit: number, used: number, readonly kind: KindSeries }

/** The place of one request, given back once: early where the answer waits for its client alone, at the latest when it is over. */
class Place implements UnsentResponse, HeldPlace {
  readonly reply: FastifyReply
  at = NOWHERE
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
    if (!this.#over && this.#unsent.hold(this, bytes)) this.give()
  }

  closed (): void {
    this.#over = true
    this.#unsent.drop(this)
    this.give()
  }

  give (): void {
    if (this.#free) return
    this.#free = true
    this.#pool.used--
    this.#pool.kind.executing(-1)
  }
}

async function inFlightLimits (fastify: FastifyInstance, { reading = 400, mutating = 200 }: InFlightOptions): Promise<void> {
  const kinds = requestKinds(fastify.orch.metrics, { readOnly: reading, mutating })
  const pool = (kind: 'readOnly' | 'mutating', limit: number) => {
    return { limit: limit === 0 ? Infinity : limit, used: 0, kind: kinds[kind] }
  }
  const pools = { readOnly: pool('readOnly', reading), mutating: pool('mutating', mutating) }

  const unsent = new UnsentResponses(fastify.log)
  fastify.addHook('onRequest', (request, reply, done) => {
    const kind = kindOf(request.orch.info, request.orch.user)
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
    request.orch.occupy(new Place(state, unsent, reply))
    done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    unsent.close()
    done()
  })
  // What is written past Fastify is told by who writes it, as is the end of a stream.
  fastify.addHook('onSend', (request, _reply, payload, done) => {
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) request.orch?.handedOver(payload.length)
    done()
  })
}

export default fp(inFlightLimits, { name: 'orch/in-flight-limits', fastify: '5.x', dependencies: ['orch/metrics', 'orch/authentication'] })
