/**
 * Writes audit events: when a request is received, when a long-running response starts, and when the response is
 * complete or a server bug ended it. The policy selects requests and detail. Rejected requests are recorded too,
 * including unauthenticated ones. In blocking mode the first event is written before the request proceeds. A failing
 * back end is logged and counted; only blocking-strict rejects requests. Registered after authentication, so that
 * events have a user. The `onSend` hook records requests that earlier hooks rejected.
 * @see interface, 'Audit events'
 */
import type { FastifyReply } from 'fastify'
import { served, type RequestContext, type ServedRequest } from '../../answers/request-context.js'
import { attempted } from './attempted-credentials.js'
import { CLOSED_EARLY, eventOf, type EventDetails, type Outcome } from './event.js'
import { compilePolicy } from './policy.js'
import { openBackends, type BackendsOptions } from './backends.js'
import { latencies } from './latency.js'
import { Recording } from './recording.js'
import { sourceIPs } from './subject.js'
import { READ_ONLY } from '../../auth/request-info.js'
import { LEVELS, type AuditPolicy, type Stage } from '../../schemas/api/audit/policy.js'
import { StatusError } from '../../schemas/status.js'
import { isLongRunning } from '../shared/request-kinds.js'
import type { AuditedRequest, OrchDecorators } from '../shared/server.js'
import { plugin, type Having } from '../../answers/server.js'

export interface AuditOptions extends BackendsOptions {
  /** Default: metadata of all requests. */
  readonly policy?: AuditPolicy
}

/** Codes of responses to bodies that could not be decoded, or are invalid or too large; their texts quote them. */
const REFUSED_BODY: ReadonlySet<number> = new Set([400, 413, 422])

/** The back end logs the lost event, so this error is not logged again. */
const notRecorded = (): StatusError => new StatusError(
  'InternalError', 'Internal error occurred: the audit event of the request could not be written', { unlogged: true }
)

async function audit (
  fastify: Having<'orchClock' | 'orchEgress' | 'orchMetrics'>, { policy, ...options }: AuditOptions
): Promise<void> {
  const { orchClock: clock, orchMetrics: metrics } = fastify
  const events = metrics.counter('apiserver_audit_event_total', 'Audit events written.').with()
  const levels = metrics.counter(
    'apiserver_audit_level_total', 'Requests by the level at which the audit policy records them.', ['level']
  )
  const rejected = metrics.counter(
    'apiserver_audit_requests_rejected_total', 'Requests refused because their audit event could not be written.'
  )
    .with()
  const isOn = options.path !== undefined || options.webhook !== undefined
  const record: OrchDecorators['orchAudit'] = isOn ? request => begin(request) : undefined
  fastify.decorate('orchAudit', record)
  if (!isOn) return
  const backends = await openBackends(options, fastify)
  const ruler = compilePolicy(policy)
  const countOf = new Map(LEVELS.map(level => [level, levels.with(level)]))

  /** False if a strict back end lost the event. */
  const write = (
    stage: Stage, request: Pick<AuditedRequest, 'orch'>, recording: Recording, more: Partial<EventDetails> = {}
  ): boolean | Promise<boolean> => {
    const { level, omitStages } = recording.auditConfig
    if (omitStages.has(stage)) return true
    const { subject } = recording
    const { user, impersonator, annotations } = request.orch
    if (impersonator !== undefined) {
      subject.impersonatedUser = user
      subject.impersonationConstraint = request.orch.impersonationConstraint
    }
    recording.annotate(annotations)
    const event = eventOf(subject, {
      stage, level, at: stage === 'RequestReceived' ? subject.facts.receivedAt : new Date(clock.wall()), ...more
    })
    events.add()
    return backends.write(event)
  }
  const outcomeOf = ({ failure, info: { verb } }: RequestContext, code: number, { answered }: Recording): Outcome =>
    ({ code, status: failure?.status ?? answered, quotesBody: REFUSED_BODY.has(code) && !READ_ONLY.has(verb) })
  const answeredWith = (
    { orch, answered }: AuditedRequest, recording: Recording, begun?: boolean
  ): Partial<EventDetails> => {
    const { code, isBegun } = answered()
    return {
      outcome: (begun ?? isBegun) || orch.failure !== undefined ? outcomeOf(orch, code, recording) : CLOSED_EARLY,
      request: recording.requestJson,
      response: recording.responseJson
    }
  }
  const open = (request: AuditedRequest): Recording | undefined => {
    request.orch.audited = true
    const { user, impersonator, info } = request.orch
    const asking = impersonator ?? user
    const auditConfig = ruler(asking, info)
    countOf.get(auditConfig.level)?.add()
    if (auditConfig.level === 'None') return undefined
    const { auditId, receivedAt } = request.orch
    const recording = new Recording(auditConfig, { auditId, info, user: asking, receivedAt, ...request.sender() })
    request.orch.recorder = recording
    return recording
  }
  const complete = (request: AuditedRequest, recording: Recording): void => {
    request.orch.onClosed(() => {
      const { orch } = request
      const slow = isLongRunning(orch.info) ? undefined : latencies(orch, performance.now())
      if (slow !== undefined) orch.annotations = { ...orch.annotations, ...slow }
      void write(orch.defect ? 'Panic' : 'ResponseComplete', request, recording, answeredWith(request, recording))
    })
  }

  const begin = (request: AuditedRequest): ReturnType<NonNullable<OrchDecorators['orchAudit']>> => {
    const recording = open(request)
    if (recording === undefined) return undefined
    const { orch } = request
    if (isLongRunning(orch.info)) {
      let isStarted = false
      const start = (begun: boolean): void => {
        if (!isStarted) void write('ResponseStarted', request, recording, answeredWith(request, recording, begun))
        isStarted = true
      }
      orch.begun = () => { start(true) }
      orch.onClosed(() => { start(false) })
    }
    complete(request, recording)
    const refusalOf = (written: boolean): StatusError | undefined => {
      if (written) return undefined
      rejected.add()
      return notRecorded()
    }
    const written = write('RequestReceived', request, recording)
    return typeof written === 'boolean' ? refusalOf(written) : written.then(refusalOf)
  }
  fastify.addHook('onRequest', (arrived, reply, done) => {
    const begun = begin(auditedRequest(served(arrived), reply))
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
    const recording = open(audited)
    if (recording !== undefined) {
      const { failure, query } = orch
      if (failure === undefined) complete(audited, recording)
      else {
        const message = failure.status.reason === 'Unauthorized'
          ? attempted(request.headers, request.raw.socket, query)
          : failure.message
        void write('ResponseStarted', request, recording, {
          outcome: { code: reply.raw.statusCode, status: { message } }
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
  decorators: { fastify: ['orchClock', 'orchEgress', 'orchMetrics'], request: ['orch'] }
})
