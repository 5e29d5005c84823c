/**
 * Traces each request step by step (`request.orch.trace`): logs slow ones and, if a receiver is configured, exports the
 * spans of sampled ones. An authenticated caller's W3C traceparent is continued and its sampling decision respected;
 * other callers' are only linked, so that strangers cannot force tracing. Webhooks receive the trace in the same
 * header. Registered right after request info. Long-running requests are not logged as slow; their spans are exported
 * when they end.
 * @see interface, 'Server start-up options': --tracing-config-file
 */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { served, type ServedRequest } from '../../answers/request-context.js'
import { withoutBrackets } from '../../clients/tunnel.js'
import { rateLimited, occasionally } from '../shared/rate-limited.js'
import { isLongRunning } from '../shared/request-kinds.js'
import { plugin } from '../shared/plugin.js'
import { later, type OrchDecorators } from '../shared/server.js'
import { attributesOf, fieldsOf, nameOf } from './request-attributes.js'
import type { OpenTelemetry, Sampled } from './open-telemetry.js'
import { DEFAULT_ENDPOINT, DEFAULT_TIMEOUT, type ReceiverOptions } from './receiver-options.js'
import { RecentlySlow } from './recent.js'
import { isSlow, slowLine } from './slow-line.js'

export interface TracingOptions {
  /** Receiver of spans. Default none. */
  readonly receiver?: ReceiverOptions | undefined
  /** Without a receiver, forwards the callers' traceparent unchanged. Default false. */
  readonly passOn?: boolean | undefined
}

const MINUTE = 60_000
const SECOND = 1000
/** Maximum slow requests logged per second. */
const MAX_SLOW_PER_SECOND = 10
/** Name of all request spans. */
const SPAN = 'OrchAPI'
/** Characters of a forwarded header. */
const TRACEPARENT_LENGTH = 55

async function tracing (fastify: FastifyInstance, { receiver, passOn = false }: TracingOptions): Promise<void> {
  const log = fastify.log.child({ module: 'tracing' })
  const failed = occasionally((reason: string) => { log.warn(`traces cannot be sent to ${reason}`) }, MINUTE)
  const egress = later(fastify, 'orchEgress') // its hooks come later
  let spans: OpenTelemetry | undefined
  if (receiver !== undefined) {
    fastify.addHook('onReady', async () => {
      const { OpenTelemetry } = await import('./open-telemetry.js')
      spans = new OpenTelemetry(await throughProxy(receiver, egress()), `orch-apiserver-${randomUUID()}`, failed)
    })
    fastify.addHook('onClose', () => spans?.close())
  }

  // An overloaded server is slow with every request and must not log each one.
  const logSlow = rateLimited(MAX_SLOW_PER_SECOND, SECOND, (request: ServedRequest, suppressed) => {
    const everything = log.level === 'debug' || log.level === 'trace' // the level may have changed since the start
    log.info(slowLine(request.orch.trace, nameOf(request), fieldsOf(request), everything))
    if (suppressed > 0) {
      log.info(`${suppressed} slow requests before this one are not logged, as there were more than ` +
        `${MAX_SLOW_PER_SECOND} in a second`)
    }
  })

  const recent = new RecentlySlow()
  fastify.decorate('orchSlowRequests', () => recent.newestFirst())

  fastify.addHook('onRequest', (arrived, reply, done) => {
    const request = served(arrived)
    const { trace, info } = request.orch
    const send = spans === undefined ? undefined : follow(spans, request, reply)
    if (passOn && spans === undefined) trace.propagate = () => callerOf(request)
    if (send !== undefined || !isLongRunning(info)) {
      request.orch.onClosed(() => {
        trace.end()
        const slow = isSlow(trace) && !isLongRunning(info)
        if (!slow && send === undefined) return
        trace.complete()
        if (slow) {
          recent.add(request.orch)
          logSlow(request)
        }
        send?.()
      })
    }
    done()
  })
}

/** Options that connect to the receiver through the proxy of the control plane, if there is one. */
async function throughProxy (
  receiver: ReceiverOptions, egress: OrchDecorators['orchEgress'] | undefined
): Promise<ReceiverOptions> {
  const { endpoint = DEFAULT_ENDPOINT, timeout = DEFAULT_TIMEOUT } = receiver
  if (egress?.controlPlane === undefined || endpoint.startsWith('unix:')) return receiver
  const { hostname, port } = new URL(`http://${endpoint}`)
  return {
    ...receiver,
    endpoint:
      `unix://${await egress.relay(egress.controlPlane, {
        host: withoutBrackets(hostname), port: Number(port || 443), timeout, call: `traces: ${endpoint}`
      })}`
  }
}

/** Decides sampling lazily, when the caller's identity is known. @returns exports the spans of the finished request */
function follow (spans: OpenTelemetry, request: ServedRequest, reply: FastifyReply): () => void {
  const { trace } = request.orch
  let decided: Sampled | undefined
  // Node joins repeated headers, so it is never an array
  const sampled = (): Sampled => decided ??= spans
    .sample({ traceparent: request.headers.traceparent as string | undefined, trusted: isKnown(request) })
  trace.propagate = span => spans.traceparent(sampled(), span)
  return () => {
    if (!sampled().sampled) return
    const { failure } = request.orch
    if (failure !== undefined && failure.status.code >= 500) trace.failure = failure
    spans.export(trace, SPAN, attributesOf(request, reply), sampled())
  }
}

/** True for authenticated callers; false if the request was rejected before authentication. */
const isKnown = ({ orch: { user, impersonator } }: ServedRequest): boolean =>
  (impersonator ?? user)?.groups.includes('system:authenticated') === true

function callerOf ({ headers: { traceparent } }: ServedRequest): string | undefined {
  return typeof traceparent === 'string' && traceparent.length === TRACEPARENT_LENGTH ? traceparent : undefined
}

export default plugin<TracingOptions>()(tracing, {
  name: 'orch/tracing', fastify: '5.x', decorators: { request: ['orch'] }
})
