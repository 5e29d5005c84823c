/**
 * Priority and fairness, in place of plain limits of requests in flight: flow schemas sort requests into levels, each with its share
 * of the seats of the server, and within a level requests wait in queues that are fair to the flows. Those that cannot wait are
 * refused with 429 and Retry-After. Every answer says by which schema and level it was served, by uid, as their names are nobody's business.
 *
 * A seat is given back when the answer is handed over whole or waits for its client, a watch gives it back when it has begun.
 * Connections to pods and nodes have none. What is kept in the store is in `storage/flow-control/`.
 *
 * It stands behind authentication, as it goes by users, and before authorization.
 *
 * @see interface, 'Limits': --enable-priority-and-fairness, --max-requests-inflight, --max-mutating-requests-inflight
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { READ_ONLY } from '../schemas/auth/request-info.js'
import type { UserInfo } from '../schemas/auth/user.js'
import { tooManyRequests } from '../schemas/status.js'
import { systemClock } from '../storage/clock.js'
import { FlowControl, type Flow } from '../storage/flow-control/flow-control.js'
import { estimate, type Asked } from '../storage/flow-control/work.js'
import { serveDumps } from './flow-control/dumps.js'
import { requestKinds } from './in-flight-metrics.js'
import { flowMetrics } from './flow-control/metrics.js'
import { Seat } from './flow-control/seat.js'
import { isConnection } from './request-kinds.js'
import { UnsentAnswers } from './unsent-answers.js'

export interface FlowControlOptions {
  /** Seats of all levels together. Default 600. */
  seats?: number | undefined
  /** Milliseconds a request may take, 0 any number: it waits for a quarter of it at most. Default one minute. */
  requestTimeout?: number | undefined
}

const RETRY_AFTER_SECONDS = 1
const LONGEST_WAIT = 60_000
const NOBODY: UserInfo = { username: '', uid: '', groups: [], extra: {} }

async function flowControl (fastify: FastifyInstance, { seats = 600, requestTimeout = 60_000 }: FlowControlOptions): Promise<void> {
  const metrics = flowMetrics(fastify.orch.metrics)
  const dropped = fastify.orch.metrics.counter('apiserver_dropped_requests_total', 'Requests refused because too many were under way.', ['request_kind'])
  const droppedOf = { readOnly: dropped.with('readOnly'), mutating: dropped.with('mutating') }
  const kinds = requestKinds(fastify.orch.metrics)
  const waitLimit = requestTimeout <= 0 ? LONGEST_WAIT : Math.min(LONGEST_WAIT, requestTimeout / 4)
  const control = fastify.orch.flowControl = new FlowControl({ clock: systemClock, seats, waitLimit, observe: metrics.observe, limited: metrics.limited })
  const unsent = new UnsentAnswers(fastify.log)
  serveDumps(fastify, control)

  fastify.addHook('onRequest', (request, reply, done) => {
    const { info, user = NOBODY, query } = request.orch
    if (isConnection(info)) {
      done()
      return
    }
    const flow = control.flow(user, info)
    name(reply, flow)
    const series = metrics.of(flow)
    const kindName = READ_ONLY.has(info.verb) ? 'readOnly' : 'mutating'
    const kind = kinds[kindName]
    const { queues } = flow.level
    if (queues === undefined) {
      const started = performance.now()
      series.dispatched.add()
      series.executing.add(1)
      kind.executing(1)
      const isWatch = info.verb === 'watch'
      let over = false
      const end = (): void => {
        if (over) return
        over = true
        series.executing.add(-1)
        kind.executing(-1)
        const ran = isWatch ? series.ranAsWatch : series.ran
        ran.observe((performance.now() - started) / 1000)
      }
      if (isWatch) request.orch.handedOver = end
      request.orch.onClosed(end)
      done()
      return
    }
    const asked = (): Asked => ({ limit: Number(query.get('limit') ?? 0) || 0, selects: query.has('labelSelector') || query.has('fieldSelector') })
    const { work, watches } = estimate(info, asked, fastify.orch.resources)
    if (watches !== undefined) series.watches.observe(watches)
    const refuse = (): void => {
      droppedOf[kindName].add()
      done(tooManyRequests('too many requests, please try again later', RETRY_AFTER_SECONDS))
    }
    const seat = new Seat(flow, queues, series, kind, unsent, user, request, reply, work, refusal => { if (refusal === undefined) done(); else refuse() })
    const entered = seat.enter()
    if (typeof entered === 'string') {
      refuse()
      return
    }
    request.orch.handedOver = bytes => { seat.handedOver(bytes) }
    request.orch.onClosed(() => { seat.closed() })
    if (entered) done()
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
