/**
 * Priority and fairness, in place of plain limits of requests in flight: flow schemas sort requests into levels, each with its share
 * of the seats of the server, and within a level requests wait in queues that are fair to the flows. Those that cannot wait are
 * refused with 429 and Retry-After. Every answer says by which schema and level it was served, by uid, as their names are nobody's business.
 *
 * A seat is given back when the answer is handed over whole or waits for its client, a watch gives it back when it has begun.
 * Connections to pods and nodes have none. What is kept in the store is in `flow-control/`.
 *
 * It stands behind authentication, as it goes by users, and before authorization.
 *
 * @see interface, 'Limits': --enable-priority-and-fairness, --max-requests-inflight, --max-mutating-requests-inflight
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { READ_ONLY } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { systemClock } from '../../storage/clock.js'
import { FlowControl, type Flow } from '../../flow-control/flow-control.js'
import { estimate } from './work.js'
import { serveDumps } from './dumps.js'
import { Exempt } from './exempt.js'
import { flowMetrics } from './metrics.js'
import { Seat } from './seat.js'
import { requestKinds } from '../in-flight-metrics.js'
import { isConnection } from '../request-kinds.js'
import { UnsentResponses } from '../unsent-responses.js'

export interface FlowControlOptions {
  /** Seats of all levels together. Default 600. */
  seats?: number | undefined
  /** Milliseconds a request may take, 0 any number: it waits for a quarter of it at most. Default one minute. */
  requestTimeout?: number | undefined
}

const LONGEST_WAIT = 60_000
const NOBODY: UserInfo = { username: '', uid: '', groups: [], extra: {} }

async function flowControl (fastify: FastifyInstance, { seats = 600, requestTimeout = 60_000 }: FlowControlOptions): Promise<void> {
  const metrics = flowMetrics(fastify.orch.metrics)
  const kinds = requestKinds(fastify.orch.metrics)
  const waitLimit = requestTimeout <= 0 ? LONGEST_WAIT : Math.min(LONGEST_WAIT, requestTimeout / 4)
  const control = fastify.orch.flowControl = new FlowControl({ clock: systemClock, seats, waitLimit, observe: metrics.observe, limited: metrics.limited })
  const unsent = new UnsentResponses(fastify.log)
  serveDumps(fastify, control)

  fastify.addHook('onRequest', (request, reply, done) => {
    const { orch } = request
    const { info, user = NOBODY } = orch
    if (isConnection(info)) {
      done()
      return
    }
    const flow = control.flow(user, info)
    name(reply, flow)
    const series = metrics.of(flow)
    const kind = kinds[READ_ONLY.has(info.verb) ? 'readOnly' : 'mutating']
    const { queues } = flow.level
    if (queues === undefined) {
      orch.occupy(new Exempt(series, kind, info.verb === 'watch'))
      done()
      return
    }
    const { work, watches } = estimate(info, orch.query, request.headers, fastify.orch.resources)
    if (watches !== undefined) series.watches.observe(watches)
    const seat = new Seat(flow, queues, series, kind, unsent, user, request, reply, work, done)
    // The step before this one has just looked at the clock.
    const entered = seat.enter(orch.filterSince || undefined)
    if (entered === 'refused') return
    orch.occupy(seat)
    if (entered === 'executing') done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    control.close()
    unsent.close()
    done()
  })
  // What is written past Fastify is told by who writes it, as is the end of a stream.
  fastify.addHook('onSend', (request, _reply, payload, done) => {
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) request.orch?.handedOver(payload.length)
    done()
  })
}

/** What is not stored has no uid. */
function name (reply: { header: (name: string, value: string) => unknown }, { uid, level }: Flow): void {
  if (uid !== '') reply.header('x-orch-pf-flowschema-uid', uid)
  if (level.uid !== '') reply.header('x-orch-pf-prioritylevel-uid', level.uid)
}

export default fp(flowControl, { name: 'orch/flow-control', fastify: '5.x', dependencies: ['orch/metrics', 'orch/authentication'] })
