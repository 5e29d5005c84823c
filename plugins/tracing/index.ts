/**
 * What became of each request, step by step (`request.orch.trace`): the log tells of one that was slow, and where a receiver is
 * configured, spans of those that are sampled are sent to it. A caller who is known and sends a W3C traceparent has its trace
 * continued and its decision respected; of anybody else it is no more than linked to, as whoever reaches a server could otherwise
 * have all of its requests traced. Webhooks are told of the trace by the same header.
 *
 * It stands right behind request info. Long-running requests are never slow, and become spans when they end.
 *
 * @see interface, 'Server start-up options': --tracing-config-file
 */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { atMost, occasionally } from '../occasionally.js'
import { isLongRunning } from '../request-kinds.js'
import { attributesOf, fieldsOf, nameOf } from './described.js'
import type { OpenTelemetry, Sampled } from './open-telemetry.js'
import type { ReceiverOptions } from './receiver-options.js'
import { isSlow, slowLine } from './slow-line.js'

export interface TracingOptions {
  /** Where spans are sent. Default nowhere. */
  readonly receiver?: ReceiverOptions | undefined
  /** Without a receiver, passes on what callers say of their traces, as it is. Default false. */
  readonly passOn?: boolean | undefined
}

const MINUTE = 60_000
const SECOND = 1000
/** Slow requests that are logged in a second. */
const MOST_SLOW = 10
/** Of every span of a request, whatever was asked. */
const SPAN = 'OrchAPI'
/** Characters of a header that is passed on. */
const TRACEPARENT_LENGTH = 55

async function tracing (fastify: FastifyInstance, { receiver, passOn = false }: TracingOptions): Promise<void> {
  const log = fastify.log.child({ module: 'tracing' })
  const everything = log.level === 'debug' || log.level === 'trace'
  const failed = occasionally((reason: string) => { log.warn(`traces cannot be sent to ${reason}`) }, MINUTE)
  const spans = receiver === undefined ? undefined : new (await import('./open-telemetry.js')).OpenTelemetry(receiver, `orch-apiserver-${randomUUID()}`, failed)

  // A server that has too much to do is slow with all of it, and should not write about each.
  const tellOfSlow = atMost(MOST_SLOW, SECOND, (request: FastifyRequest, leftOut) => {
    log.info(slowLine(request.orch.trace, nameOf(request), fieldsOf(request), everything))
    if (leftOut > 0) log.info(`${leftOut} slow requests before this one are not logged, as there were more than ${MOST_SLOW} in a second`)
  })

  fastify.addHook('onRequest', (request, reply, done) => {
    const { trace, info } = request.orch
    const send = spans === undefined ? undefined : follow(spans, request, reply)
    if (passOn && spans === undefined) trace.propagate = () => callerOf(request)
    if (send !== undefined || !isLongRunning(info)) {
      request.orch.onClosed(() => {
        trace.end()
        const slow = isSlow(trace) && !isLongRunning(info)
        if (!slow && send === undefined) return
        trace.complete()
        if (slow) tellOfSlow(request)
        send?.()
      })
    }
    done()
  })
  if (spans !== undefined) fastify.addHook('onClose', () => spans.close())
}

/**
 * Whether it is sampled is decided when that is first asked for, by who the caller is then known to be.
 * @returns what sends its spans when it is over
 */
function follow (spans: OpenTelemetry, request: FastifyRequest, reply: FastifyReply): () => void {
  const { trace } = request.orch
  let decided: Sampled | undefined
  const sampled = (): Sampled => decided ??= spans.sample({ traceparent: request.headers.traceparent as string | undefined, trusted: isKnown(request) }) // one of a kind: Node joins others
  trace.propagate = span => spans.traceparent(sampled(), span)
  return () => {
    if (!sampled().sampled) return
    const { failure } = request.orch
    if (failure !== undefined && failure.status.code >= 500) trace.failure = failure
    spans.export(trace, SPAN, attributesOf(request, reply), sampled())
  }
}

/** Not anonymous, and not refused before that was found out. */
const isKnown = ({ orch: { user, impersonator } }: FastifyRequest): boolean => (impersonator ?? user)?.groups.includes('system:authenticated') === true

function callerOf ({ headers: { traceparent } }: FastifyRequest): string | undefined {
  return typeof traceparent === 'string' && traceparent.length === TRACEPARENT_LENGTH ? traceparent : undefined
}

export default fp(tracing, { name: 'orch/tracing', fastify: '5.x', dependencies: ['orch/request-info'] })
