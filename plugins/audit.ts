/**
 * What happened, written down: an event when a request was received, when a long-running one began to be
 * answered, and when its answer was complete. Refused requests are written down too, those without valid
 * credentials among them. Mode blocking: a request goes on when its first event is written; a log that
 * cannot be written to is reported and counted, and refuses requests in mode blocking-strict alone.
 *
 * It stands behind authentication, so that events have a user. Requests that were refused before it are
 * found by their answers.
 *
 * @see interface, 'Audit events'
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { jsonLine, legacyLine, sourceIPs, type Outcome, type Stage, type Subject } from './audit/event.js'
import type { SinkOptions } from './audit/sink.js'
import { internalError } from '../schemas/status.js'
import { isLongRunning } from './request-kinds.js'

export interface AuditPluginOptions extends Partial<SinkOptions> {
  /** `json` for objects of audit.orch.io/v1, `legacy` for lines of text. Default json. */
  format?: 'json' | 'legacy'
  /** Whether a request whose first event cannot be written goes on. Default blocking: it does. */
  mode?: 'blocking' | 'blocking-strict'
}

/** Milliseconds between two complaints in the log about one that cannot be written. */
const COMPLAIN_EVERY = 10_000

async function audit (fastify: FastifyInstance, options: AuditPluginOptions): Promise<void> {
  const { path, format = 'json', mode = 'blocking', ...rest } = options
  if (path === undefined) return
  const { openSink } = await import('./audit/sink.js')
  const events = fastify.orch.metrics.counter('apiserver_audit_event_total', 'Audit events written.').with()
  const errors = fastify.orch.metrics.counter('apiserver_audit_error_total', 'Audit events that could not be written.').with()
  let complained = -Infinity
  const failed = (error: unknown): void => {
    if (performance.now() - complained < COMPLAIN_EVERY) return
    complained = performance.now()
    fastify.log.error({ err: error, path }, 'the audit log cannot be written')
  }
  const sink = openSink({ path, ...rest }, failed)
  const line = format === 'json' ? jsonLine : legacyLine
  /** The addresses of requests seen so far: by the time of a last event the connection may be gone. */
  const received = new WeakMap<FastifyRequest, readonly string[]>()
  /** Events on their way: awaited when the server closes. */
  const pending = new Set<Promise<boolean>>()

  const write = (stage: Stage, request: FastifyRequest, outcome?: Outcome): Promise<boolean> => {
    const written = sink.write(line(stage, subjectOf(request, received.get(request) ?? []), stage === 'RequestReceived' ? request.orch.receivedAt : new Date(), outcome)).then(
      () => {
        events.add()
        return true
      },
      (error: unknown) => {
        errors.add()
        failed(error)
        return false
      }).finally(() => pending.delete(written))
    pending.add(written)
    return written
  }
  const outcomeOf = (request: FastifyRequest, reply: FastifyReply): Outcome => ({ code: reply.raw.statusCode, failure: request.orch.failure?.status })
  const open = (request: FastifyRequest, reply: FastifyReply): void => {
    received.set(request, sourceIPs(request.headers, request.socket.remoteAddress))
    request.orch.onClosed(() => { write('ResponseComplete', request, outcomeOf(request, reply)).catch(failed) })
  }

  fastify.addHook('onRequest', (request, reply, done) => {
    open(request, reply)
    if (isLongRunning(request.orch.info)) onHead(reply, () => { write('ResponseStarted', request, { code: reply.raw.statusCode, failure: undefined }).catch(failed) })
    write('RequestReceived', request).then(written => done(written || mode === 'blocking' ? undefined : internalError(new Error('the audit log cannot be written'))), done)
  })
  // Refused by a hook before ours: the answer is all there is.
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    if (request.orch !== undefined && !received.has(request)) open(request, reply)
    done()
  })
  fastify.addHook('onClose', async () => {
    await Promise.all(pending)
    await sink.close()
  })
}

function subjectOf (request: FastifyRequest, addresses: readonly string[]): Subject {
  const { auditId, info, user, receivedAt, annotations } = request.orch
  return {
    auditId, info, user, receivedAt, annotations, url: request.raw.url ?? '', sourceIPs: addresses, userAgent: request.headers['user-agent']
  }
}

/** Tells when the head of an answer goes out, also of one that is written past Fastify. */
function onHead (reply: FastifyReply, told: () => void): void {
  const { raw } = reply
  const writeHead = raw.writeHead
  raw.writeHead = ((...args: Parameters<typeof writeHead>) => {
    raw.writeHead = writeHead
    const result = writeHead.apply(raw, args)
    told()
    return result
  }) as typeof writeHead // the overloads differ in arguments that are only passed on
}

export default fp(audit, { name: 'orch/audit', fastify: '5.x', dependencies: ['orch/metrics', 'orch/authentication'] })
