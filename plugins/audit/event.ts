/**
 * One audit event, as an object of audit.orch.io/v1 or as a line of the legacy text format: who asked for what, when, and what
 * came of it, with the objects where the level asks for them; never a credential.
 *
 * @see interface, 'Audit events'
 */
import type { Level, Stage } from '../../schemas/config/audit-policy.js'
import type { Status } from '../../schemas/status.js'
import { clip, escapeRest, MAX_AGENT, MAX_GROUPS, MAX_LIST, MAX_URI, micro, often, quoted, refJson, userJson, type Subject } from './subject.js'

export interface Outcome {
  readonly code: number
  /** Of an answer that is one. */
  readonly status: Pick<Partial<Status>, 'status' | 'message' | 'reason' | 'details'> | undefined
}

/** Whoever asked has gone before there was an answer. */
export const CLOSED_EARLY: Outcome = { code: 200, status: { status: 'Success', message: 'Connection closed early' } }

/** An event as the members of a JSON object, its objects apart, so that they can be left out. */
export interface AuditEvent {
  readonly level: Level
  /** Up to the objects, without the brace that begins it. */
  readonly head: string
  /** JSON of what was sent. */
  readonly request: string | undefined
  /** JSON of what was answered. */
  readonly response: string | undefined
  readonly times: string
  /** Members of an object, '' where there are none. */
  readonly annotations: string
  /** The same as a line of the legacy format, with its end. */
  readonly legacy: () => string
}

export interface Moment {
  readonly stage: Stage
  readonly level: Level
  readonly at: Date
  readonly outcome?: Outcome | undefined
  readonly request?: string | undefined
  readonly response?: string | undefined
}

export function eventOf (subject: Subject, moment: Moment): AuditEvent {
  const { facts: { info, receivedAt }, impersonatedUser, object, annotations } = subject
  const { stage, level, at, outcome, request, response } = moment
  const known = stage === 'RequestReceived' ? undefined : object
  const head = `"level":"${level}",${subject.id},"stage":"${stage}",${subject.who}` +
    (impersonatedUser === undefined ? '' : `,"impersonatedUser":${userJson(impersonatedUser)}`) + `,${subject.how}` +
    (info.isResourceRequest ? `,"objectRef":${known === undefined ? subject.objectRef : refJson(info, known)}` : '') +
    (outcome === undefined ? '' : `,"responseStatus":${statusJson(outcome)}`)
  return {
    level,
    head,
    request,
    response,
    times: `"requestReceivedTimestamp":"${subject.received}","stageTimestamp":"${at === receivedAt ? subject.received : micro(at)}"`,
    annotations: stage === 'RequestReceived' ? '' : membersOf(annotations),
    legacy: () => `${legacyLine(stage, subject, outcome)}\n`
  }
}

/** Said of an event whose objects were left out. */
export const TRUNCATED = { 'audit.orch.io/truncated': 'true' }

/** The members of an event as an item of a list. @param whole false leaves its objects out, and says so */
export const eventJson = (event: AuditEvent, whole = true): string => `{${membersOfEvent(event, whole)}}`

function membersOfEvent ({ head, request, response, times, annotations }: AuditEvent, whole: boolean): string {
  const objects = whole ? `${request === undefined ? '' : `,"requestObject":${escapeRest(request)}`}${response === undefined ? '' : `,"responseObject":${escapeRest(response)}`}` : ''
  const said = whole ? annotations : [annotations, membersOf(TRUNCATED)].filter(Boolean).join()
  return `${head}${objects},${times}${said === '' ? '' : `,"annotations":{${said}}`}`
}

/** One line of the log. */
export const jsonLine = (event: AuditEvent, whole = true): string => `{"kind":"Event","apiVersion":"audit.orch.io/v1",${membersOfEvent(event, whole)}}\n`

function statusJson ({ code, status: answered }: Outcome): string {
  if (answered === undefined) return `{"metadata":{},"code":${code}}`
  const { status, message, reason, details } = answered
  return escapeRest(JSON.stringify({
    metadata: {},
    status,
    message: message === undefined ? undefined : clip(message),
    reason,
    details: details?.causes === undefined ? details : { ...details, causes: details.causes.slice(0, MAX_LIST).map(cause => cause.message === undefined ? cause : { ...cause, message: clip(cause.message) }) },
    code
  }))
}

function membersOf (map: Readonly<Record<string, string>>): string {
  let members = ''
  for (const key in map) members += `${members === '' ? '' : ','}${often(key)}:${quoted(map[key] ?? '')}`
  return members
}

/** Every value is quoted as in JSON, groups each for itself too, so that nothing a client sends can look like another field, line or group. */
export function legacyLine (stage: Stage, { facts, impersonatedUser: as }: Subject, outcome: Outcome | undefined): string {
  const { auditId, info, user, receivedAt, sourceIPs, userAgent, url } = facts
  const list = (groups: readonly string[]): string => quoted(groups.slice(0, MAX_LIST).map(group => quoted(group)).join(','), MAX_GROUPS)
  return `${receivedAt.toISOString()} AUDIT: id=${quoted(auditId)} stage=${quoted(stage)} ip=${quoted(sourceIPs[0] ?? '<unknown>')}` +
    ` method=${quoted(info.verb)} user=${quoted(user?.username || '<none>')} groups=${user === undefined || user.groups.length === 0 ? '"<none>"' : list(user.groups)}` +
    ` as=${quoted(as?.username ?? '<self>')} asgroups=${as === undefined || as.groups.length === 0 ? '"<lookup>"' : list(as.groups)}` +
    ` user-agent=${quoted(userAgent ?? '', MAX_AGENT)} namespace=${quoted(info.namespace || '<none>')} uri=${quoted(url, MAX_URI)}` +
    ` response="${outcome === undefined ? '<deferred>' : outcome.code}"`
}
