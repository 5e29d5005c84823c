/**
 * Builds an audit event as an object of audit.orch.io/v1 or a legacy text line. Objects are included if the level
 * requires them; credentials never are.
 * @see interface, 'Audit events'
 */
import type { Level, Stage } from '../../schemas/api/audit/policy.js'
import { escapeControls, withoutUrlSecrets } from '../../schemas/quote.js'
import type { AUDIT_VERSIONS } from '../../schemas/public-names.js'
import type { Status } from '../../schemas/status.js'
import {
  truncate, MAX_AGENT, MAX_GROUPS, MAX_LIST, MAX_URI, microTime, quotedCached, quoted, refJson, userJson,
  type Subject
} from './subject.js'

export interface Outcome {
  readonly code: number
  /** True if the text of the response, or the name of the object, may quote a body that was refused. */
  readonly quotesBody?: boolean
  /** Set if the response is a Status. */
  readonly status: Pick<Partial<Status>, 'status' | 'message' | 'reason' | 'details'> | undefined
}

/** The client disconnected before a response was sent. */
export const CLOSED_EARLY: Outcome = { code: 200, status: { status: 'Success', message: 'Connection closed early' } }

/** An event as JSON members. Objects are separate, so that they can be omitted. */
export interface AuditEvent {
  readonly level: Level
  /** The members before the objects, without the opening brace. */
  readonly head: string
  /** JSON of the request object. */
  readonly request: string | undefined
  /** JSON of the response object. */
  readonly response: string | undefined
  readonly times: string
  /** JSON members, or ''. */
  readonly annotations: string
  /** Renders the legacy line, with its newline. */
  readonly legacy: () => string
}

export interface EventDetails {
  readonly stage: Stage
  readonly level: Level
  readonly at: Date
  readonly outcome?: Outcome | undefined
  readonly request?: string | undefined
  readonly response?: string | undefined
}

export function eventOf (subject: Subject, details: EventDetails): AuditEvent {
  const {
    facts: { info, receivedAt }, impersonatedUser, impersonationConstraint, object, annotations
  } = subject
  const { stage, level, at, outcome, request, response } = details
  // At level Metadata nothing of a refused body is recorded.
  const unquoted = level === 'Metadata' && outcome?.quotesBody === true
  const named = stage === 'RequestReceived' || unquoted ? undefined : object
  const head = `"level":"${level}",${subject.id},"stage":"${stage}",${subject.who}` +
    (impersonatedUser === undefined ? '' : `,"impersonatedUser":${userJson(impersonatedUser)}`) +
    (impersonationConstraint === undefined
      ? ''
      : `,"authenticationMetadata":{"impersonationConstraint":${quoted(impersonationConstraint)}}`) +
    `,${subject.how}` +
    (info.isResourceRequest ? `,"objectRef":${named === undefined ? subject.objectRef : refJson(info, named)}` : '') +
    (outcome === undefined ? '' : `,"responseStatus":${statusJson(unquoted ? bare(outcome) : outcome)}`)
  return {
    level,
    head,
    request,
    response,
    times: `"requestReceivedTimestamp":"${subject.received}` +
      `","stageTimestamp":"${at === receivedAt ? subject.received : microTime(at)}"`,
    annotations: stage === 'RequestReceived' ? '' : membersOf(annotations),
    legacy: () => `${legacyLine(stage, subject, outcome)}\n`
  }
}

/** Annotation of events without their objects. */
export const TRUNCATED = { 'audit.orch.io/truncated': 'true' }

/** The serialization of an event. */
export interface EventForm {
  /** Group and version. Default audit.orch.io/v1. */
  readonly version?: EventVersion | undefined
  /** By the names of its reader. Default as it is. */
  readonly shown?: ((json: string) => string) | undefined
}

/** Characters of an event whose objects get other names; they are parsed in one turn. Others are left out. */
const MAX_RENAMED = 512 * 1024

export type EventVersion = typeof AUDIT_VERSIONS[number]

/** The event as a list item. @param whole false omits the objects and adds the annotation */
export function eventJson (event: AuditEvent, whole = true, { shown }: EventForm = {}): string {
  const json = `{${membersOfEvent(event, whole)}}`
  if (shown === undefined) return json
  return whole && json.length > MAX_RENAMED ? eventJson(event, false, { shown }) : shown(json)
}

function membersOfEvent ({ head, request, response, times, annotations }: AuditEvent, whole: boolean): string {
  const objects = whole
    ? `${request === undefined ? '' : `,"requestObject":${escapeControls(request)}`}` +
      `${response === undefined ? '' : `,"responseObject":${escapeControls(response)}`}`
    : ''
  const said = whole ? annotations : [annotations, membersOf(TRUNCATED)].filter(Boolean).join()
  return `${head}${objects},${times}${said === '' ? '' : `,"annotations":{${said}}`}`
}

/** The event as a log line, by the names of its reader. */
export const jsonLine = (event: AuditEvent, whole = true, { version, shown }: EventForm = {}): string =>
  `{"kind":"Event","apiVersion":"${version ?? 'audit.orch.io/v1'}",${eventJson(event, whole, { shown }).slice(1)}\n`

/** The reason alone, as the message too. */
function bare ({ code, status }: Outcome): Outcome {
  const { reason } = status ?? {}
  return { code, status: reason === undefined ? undefined : { status: 'Failure', message: reason, reason } }
}

function statusJson ({ code, status: answered }: Outcome): string {
  if (answered === undefined) return `{"metadata":{},"code":${code}}`
  const { status, message, reason, details } = answered
  const member = (name: string, text: string | undefined): string =>
    text === undefined ? '' : `,"${name}":${quoted(text)}`
  return `{"metadata":{}${member('status', status)}${member('message', message)}${member('reason', reason)}` +
    `${details === undefined ? '' : `,"details":${escapeControls(JSON.stringify(cut(details)))}`},"code":${code}}`
}

const cut = (details: NonNullable<Status['details']>): typeof details => details.causes === undefined
  ? details
  : {
      ...details, causes: details.causes.slice(0, MAX_LIST).map(cause =>
        cause.message === undefined ? cause : { ...cause, message: truncate(cause.message) })
    }

/** Those of frozen annotations, which many requests share. */
const shared = new WeakMap<Readonly<Record<string, string>>, string>()

function membersOf (map: Readonly<Record<string, string>>): string {
  const earlier = shared.get(map)
  if (earlier !== undefined) return earlier
  let members = ''
  for (const key in map) members += `${members === '' ? '' : ','}${quotedCached(key)}:${quoted(map[key] ?? '')}`
  if (Object.isFrozen(map)) shared.set(map, members)
  return members
}

/** All values are JSON-quoted, each group separately, so that client input cannot imitate a field, line or group. */
export function legacyLine (
  stage: Stage, { facts, impersonatedUser: as }: Subject, outcome: Outcome | undefined
): string {
  const { auditId, info, user, receivedAt, sourceIPs, userAgent, url } = facts
  const list = (groups: readonly string[]): string =>
    quoted(groups.slice(0, MAX_LIST).map(group => quoted(group)).join(','), MAX_GROUPS)
  return `${receivedAt.toISOString()} AUDIT: id=${quoted(auditId)} stage=${quoted(stage)} ` +
    `ip=${quoted(sourceIPs[0] ?? '<unknown>')}` +
    ` method=${quoted(info.verb)} user=${quoted(user?.username || '<none>')} ` +
      `groups=${user === undefined || user.groups.length === 0 ? '"<none>"' : list(user.groups)}` +
    ` as=${quoted(as?.username ?? '<self>')} ` +
      `asgroups=${as === undefined || as.groups.length === 0 ? '"<lookup>"' : list(as.groups)}` +
    ` user-agent=${quoted(userAgent ?? '', MAX_AGENT)} namespace=${quoted(info.namespace || '<none>')} ` +
      `uri=${quoted(withoutUrlSecrets(url), MAX_URI)}` +
    ` response="${outcome === undefined ? '<deferred>' : outcome.code}"`
}
