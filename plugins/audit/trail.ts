/**
 * The events of requests: which there are, what they hold, and that a strict back end which loses the first refuses the
 * request.
 */
import { READ_ONLY } from '../../auth/request-info.js'
import type { RequestContext } from '../../answers/request-context.js'
import { LEVELS, type Stage } from '../../schemas/api/audit/policy.js'
import { StatusError } from '../../schemas/status.js'
import type { Clock } from '../../event-loop/clock.js'
import type { Counter, Metrics } from '../shared/metric-series.js'
import { isLongRunning } from '../shared/request-kinds.js'
import type { AuditedRequest, OrchDecorators } from '../shared/server.js'
import type { Backends } from './backends.js'
import { CLOSED_EARLY, eventOf, type EventDetails, type Outcome } from './event.js'
import { latencies } from './latency.js'
import type { PolicyRuleEvaluator } from './policy.js'
import { Recording } from './recording.js'

/** Codes of responses to bodies that could not be decoded, or are invalid or too large; their texts quote them. */
const REFUSED_BODY: ReadonlySet<number> = new Set([400, 413, 422])

/** The back end logs the lost event, so this error is not logged again. */
const notRecorded = (): StatusError => new StatusError(
  'InternalError', 'Internal error occurred: the audit event of the request could not be written', { unlogged: true }
)

export interface TrailOptions {
  readonly backends: Backends
  readonly ruler: PolicyRuleEvaluator
  readonly clock: Pick<Clock, 'wall'>
  readonly metrics: AuditMetrics
}

export type AuditMetrics = ReturnType<typeof auditMetrics>

export function auditMetrics (metrics: Metrics) {
  return {
    events: metrics.counter('apiserver_audit_event_total', 'Audit events written.').with(),
    levels: metrics.counter(
      'apiserver_audit_level_total', 'Requests by the level at which the audit policy records them.', ['level']
    ),
    rejected: metrics.counter(
      'apiserver_audit_requests_rejected_total', 'Requests refused because their audit event could not be written.'
    ).with()
  }
}

export class Trail {
  readonly #options: TrailOptions
  /** Without an audit log there are no series of levels. */
  readonly #levels: ReadonlyMap<string, Counter>

  constructor (options: TrailOptions) {
    this.#options = options
    this.#levels = new Map(LEVELS.map(level => [level, options.metrics.levels.with(level)]))
  }

  /** Records a request that arrives. @returns the error to answer with, if its event was to be written and was lost */
  begin (request: AuditedRequest): ReturnType<NonNullable<OrchDecorators['orchAudit']>> {
    const recording = this.open(request)
    if (recording === undefined) return undefined
    const { orch } = request
    if (isLongRunning(orch.info)) {
      let isStarted = false
      const start = (begun: boolean): void => {
        if (!isStarted) void this.write('ResponseStarted', request, recording, answeredWith(request, recording, begun))
        isStarted = true
      }
      orch.begun = () => { start(true) }
      orch.onClosed(() => { start(false) })
    }
    this.complete(request, recording)
    const refusalOf = (written: boolean): StatusError | undefined => {
      if (written) return undefined
      this.#options.metrics.rejected.add()
      return notRecorded()
    }
    const written = this.write('RequestReceived', request, recording)
    return typeof written === 'boolean' ? refusalOf(written) : written.then(refusalOf)
  }

  /** Undefined if the policy wants nothing of it. */
  open (request: AuditedRequest): Recording | undefined {
    request.orch.audited = true
    const { user, impersonator, info } = request.orch
    const asking = impersonator ?? user
    const auditConfig = this.#options.ruler(asking, info)
    this.#levels.get(auditConfig.level)?.add()
    if (auditConfig.level === 'None') return undefined
    const { auditId, receivedAt } = request.orch
    const recording = new Recording(auditConfig, { auditId, info, user: asking, receivedAt, ...request.sender() })
    request.orch.recorder = recording
    return recording
  }

  /** Writes the last event when the answer has ended. */
  complete (request: AuditedRequest, recording: Recording): void {
    request.orch.onClosed(() => {
      const { orch } = request
      const slow = isLongRunning(orch.info) ? undefined : latencies(orch, performance.now())
      if (slow !== undefined) orch.annotations = { ...orch.annotations, ...slow }
      const stage = orch.defect ? 'Panic' : 'ResponseComplete'
      void this.write(stage, request, recording, answeredWith(request, recording))
    })
  }

  /** False if a strict back end lost the event. */
  write (
    stage: Stage, request: Pick<AuditedRequest, 'orch'>, recording: Recording, more: Partial<EventDetails> = {}
  ): boolean | Promise<boolean> {
    const { backends, clock, metrics } = this.#options
    const { level, omitStages } = recording.auditConfig
    if (omitStages.has(stage)) return true
    const { subject } = recording
    const { user, impersonator, annotations } = request.orch
    if (impersonator !== undefined) {
      subject.impersonatedUser = user
      subject.impersonationConstraint = request.orch.impersonationConstraint
    }
    recording.annotate(annotations)
    const at = stage === 'RequestReceived' ? subject.facts.receivedAt : new Date(clock.wall())
    metrics.events.add()
    return backends.write(eventOf(subject, { stage, level, at, ...more }))
  }
}

const outcomeOf = ({ failure, info: { verb } }: RequestContext, code: number, { answered }: Recording): Outcome =>
  ({ code, status: failure?.status ?? answered, quotesBody: REFUSED_BODY.has(code) && !READ_ONLY.has(verb) })

/** @param begun default whether the answer has begun */
function answeredWith (
  { orch, answered }: AuditedRequest, recording: Recording, begun?: boolean
): Partial<EventDetails> {
  const { code, isBegun } = answered()
  return {
    outcome: (begun ?? isBegun) || orch.failure !== undefined ? outcomeOf(orch, code, recording) : CLOSED_EARLY,
    request: recording.requestJson,
    response: recording.responseJson
  }
}
