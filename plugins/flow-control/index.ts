/**
 * Priority and fairness, the alternative to the plain in-flight limits: flow schemas assign requests to priority
 * levels, each with a share of the server's seats; within a level, requests wait in queues that are fair among flows.
 * Requests that cannot wait get 429 and Retry-After. Response headers identify flow schema and level by uid, as
 * upstream; the text of a 429 names them. A request frees its seats when its response is written or waits only for the
 * client; a watch when it has started. Connections to pods and nodes take no seats. The stored configuration is in
 * `flow-control/`. Registered after authentication, which provides the user, and before authorization.
 * @see interface, 'Limits': --enable-priority-and-fairness, --max-requests-inflight, --max-mutating-requests-inflight
 */
import { served } from '../../answers/request-context.js'
import { READ_ONLY } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { systemClock } from '../../event-loop/clock.js'
import { FlowControl, type Flow } from '../../flow-control/flow-control.js'
import type { Work } from '../../flow-control/queue.js'
import { estimate, narrowed } from './work.js'
import { serveDumps } from './dumps.js'
import { Exempt } from './exempt.js'
import { flowMetrics } from './metrics.js'
import { Seat } from './seat.js'
import { headerPrefixOf } from '../shared/client-names.js'
import { requestKinds } from '../shared/in-flight-metrics.js'
import { isConnection } from '../shared/request-kinds.js'
import { UnsentResponses } from '../shared/unsent-responses.js'
import { plugin, type Having } from '../shared/plugin.js'

export interface FlowControlOptions {
  /** Total seats of all levels. Default 600. */
  seats?: number | undefined
  /**
   * Maximum duration of a request in milliseconds; 0 means unlimited. Requests wait at most a quarter of it. Default
   * one minute.
   */
  requestTimeout?: number | undefined
  /** Levels lend each other seats. Default false. */
  lending?: boolean | undefined
  /** No list takes more than a part of its level's seats. Default false. */
  narrow?: boolean | undefined
}

/** Verbs whose seats are those of a list. */
const READS_MANY: ReadonlySet<string> = new Set(['list', 'watch'])

const MAX_WAIT = 60_000
const NOBODY: UserInfo = { username: '', uid: '', groups: [], extra: {} }

async function flowControl (
  fastify: Having<'orchMetrics' | 'orchResources'>,
  { seats = 600, requestTimeout = 60_000, lending, narrow = false }: FlowControlOptions
): Promise<void> {
  const metrics = flowMetrics(fastify.orchMetrics, lending)
  const kinds = requestKinds(fastify.orchMetrics)
  const waitLimit = requestTimeout <= 0 ? MAX_WAIT : Math.min(MAX_WAIT, requestTimeout / 4)
  const control = new FlowControl({
    clock: systemClock, seats, waitLimit, observe: metrics.observe, limited: metrics.limited, lending
  })
  fastify.decorate('orchFlowControl', control)
  const unsent = new UnsentResponses(fastify.log)
  serveDumps(fastify, control)

  fastify.addHook('onRequest', (request, reply, done) => {
    const { orch } = served(request)
    const { info, user = NOBODY } = orch
    if (isConnection(info)) {
      done()
      return
    }
    const flow = control.flow(user, info)
    name(reply, flow, headerPrefixOf(orch))
    const series = metrics.of(flow)
    const kind = kinds[READ_ONLY.has(info.verb) ? 'readOnly' : 'mutating']
    const { queues } = flow.level
    if (queues === undefined) {
      // Only what an exempt level has of its own can be asked back from those that borrowed it.
      const { level } = flow
      const seats = lending === true && level.shares > 0
        ? estimate(info, orch.query, request.headers, fastify.orchResources).work.seats
        : 0
      control.exempt(level, seats)
      orch.occupy(new Exempt(series, kind, info.verb === 'watch', () => { control.exempt(level, -seats) }))
      done()
      return
    }
    const { work: full, watches } = estimate(info, orch.query, request.headers, fastify.orchResources)
    const work = narrow && READS_MANY.has(info.verb) ? ofList(full, flow, queues.settings) : full
    if (watches !== undefined) series.watches.observe(watches)
    const seat = new Seat({ flow, queues, series, kind, unsent, user, work }, reply, done)
    const entered = seat.enter()
    if (entered === 'refused') return
    orch.occupy(seat)
    if (entered === 'executing') done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    control.close()
    unsent.close()
    done()
  })
  // Code that bypasses Fastify to write, or that streams, calls `handedOver` itself.
  fastify.addHook('onSend', (request, _reply, payload, done) => {
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) request.orch?.handedOver(payload.length)
    done()
  })
}

/** The seats of a list, as its level has room for such. */
function ofList (full: Work, { level }: Flow, { handSize }: { readonly handSize: number }): Work {
  const { nominal } = level.lending?.bounds ?? {}
  return nominal === undefined || full.seats === 1 ? full : narrowed(full, { nominal, handSize })
}

/** Built-in objects that are not stored have no uid. */
function name (
  reply: { header: (name: string, value: string) => unknown }, { uid, level }: Flow, prefix: string
): void {
  if (uid !== '') reply.header(`${prefix}-pf-flowschema-uid`, uid)
  if (level.uid !== '') reply.header(`${prefix}-pf-prioritylevel-uid`, level.uid)
}

export default plugin<FlowControlOptions>()(flowControl, {
  name: 'orch/flow-control',
  fastify: '5.x',
  dependencies: ['orch/impersonation'],
  decorators: { fastify: ['orchMetrics', 'orchResources'], request: ['orch'] }
})
