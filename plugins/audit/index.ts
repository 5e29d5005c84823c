/**
 * Writes audit events: when a request is received, when a long-running response starts, and when the response is
 * complete or a server bug ended it. The policy selects requests and detail. Rejected requests are recorded too,
 * including unauthenticated ones. In blocking mode the first event is written before the request proceeds. A failing
 * back end is logged and counted; only blocking-strict rejects requests. Registered after authentication, so that
 * events have a user. The `onSend` hook records requests that earlier hooks rejected.
 * @see interface, 'Audit events'
 */
import type { FastifyReply } from 'fastify'
import { served, type ServedRequest } from '../../answers/request-context.js'
import { attempted } from './attempted-credentials.js'
import { compilePolicy } from './policy.js'
import { openBackends, type BackendsOptions } from './backends.js'
import { sourceIPs } from './subject.js'
import { auditMetrics, Trail } from './trail.js'
import type { AuditPolicy } from '../../schemas/api/audit/policy.js'
import type { AuditedRequest, OrchDecorators } from '../shared/server.js'
import { plugin, type Having } from '../shared/plugin.js'

export interface AuditOptions extends BackendsOptions {
  /** Default: metadata of all requests. */
  readonly policy?: AuditPolicy
}

async function audit (
  fastify: Having<'orchClock' | 'orchEgress' | 'orchMetrics' | 'orchSettings'>, { policy, ...options }: AuditOptions
): Promise<void> {
  const metrics = auditMetrics(fastify.orchMetrics)
  const isOn = options.path !== undefined || options.webhook !== undefined
  const record: OrchDecorators['orchAudit'] = isOn ? request => trail.begin(request) : undefined
  fastify.decorate('orchAudit', record)
  if (!isOn) return
  const backends = await openBackends(options, fastify)
  const trail = new Trail({ backends, ruler: compilePolicy(policy), clock: fastify.orchClock, metrics })
  fastify.addHook('onRequest', (arrived, reply, done) => {
    const begun = trail.begin(auditedRequest(served(arrived), reply))
    if (begun instanceof Promise) begun.then(done, done)
    else done(begun)
  })
  // A hook before this one ended the request. A failure, such as a 401, gets one ResponseStarted event with the reason;
  // a regular response is complete.
  fastify.addHook('onSend', ({ orch }, reply, _payload, done) => {
    orch?.begun?.()
    if (orch?.audited !== false) return done()
    const request = served(reply.request)
    const audited = auditedRequest(request, reply)
    const recording = trail.open(audited)
    if (recording !== undefined) {
      const { failure, query } = orch
      if (failure === undefined) trail.complete(audited, recording)
      else {
        const message = failure.status.reason === 'Unauthorized'
          ? attempted(request.headers, request.raw.socket, query)
          : failure.message
        recording.status(failure.status)
        void trail.write('ResponseStarted', request, recording, {
          outcome: { code: reply.raw.statusCode, status: { ...failure.status, message } },
          response: recording.responseJson
        })
      }
    }
    done()
  })
  fastify.addHook('onClose', async () => { await backends.close() })
}

/** Maximum characters kept of a user agent. */
const MAX_AGENT_LENGTH = 2048

const auditedRequest = ({ orch, raw, headers, socket }: ServedRequest, reply: FastifyReply): AuditedRequest => ({
  orch,
  sender: () => ({
    url: raw.url ?? '',
    sourceIPs: sourceIPs(headers, socket.remoteAddress),
    userAgent: headers['user-agent']?.slice(0, MAX_AGENT_LENGTH) || undefined // further clipped when written
  }),
  answered: () => ({ code: reply.raw.statusCode, isBegun: reply.raw.headersSent })
})

export default plugin<AuditOptions>()(audit, {
  name: 'orch/audit',
  fastify: '5.x',
  dependencies: ['orch/authentication'],
  decorators: { fastify: ['orchClock', 'orchEgress', 'orchMetrics', 'orchSettings'], request: ['orch'] }
})
