/**
 * One audit event, as an object of audit.orch.io/v1 at level Metadata or as a line of the legacy text
 * format: who asked for what, when, and what came of it; never a body, never a credential. Every string
 * that a client chose is cut.
 *
 * @see interface, 'Audit events'
 */
import { isIP } from 'node:net'
import type { RequestInfo, UserInfo } from '../../schemas/request.js'
import type { Status } from '../../schemas/status.js'

export type Stage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete'

/** What an event is made of. */
export interface Subject {
  readonly auditId: string
  readonly url: string
  readonly info: RequestInfo
  readonly user: UserInfo | undefined
  readonly receivedAt: Date
  readonly sourceIPs: readonly string[]
  readonly userAgent: string | undefined
  readonly annotations: Readonly<Record<string, string>>
}

export interface Outcome {
  readonly code: number
  /** Undefined for a success. */
  readonly failure: Status | undefined
}

const MAX_URI = 4096
const MAX_AGENT = 1024
const MAX_TEXT = 2048
const MAX_LIST = 100

const clip = (text: string, length: number): string => text.length > length ? `${text.slice(0, length)}...TRUNCATED` : text
/** JSON leaves these as they are, and a terminal obeys some of them. */
const escapeRest = (line: string): string =>
  line.replace(/[\u007f-\u009f\u2028\u2029]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
const micro = (date: Date): string => date.toISOString().replace('Z', '000Z')

export function jsonLine (stage: Stage, subject: Subject, at: Date, outcome: Outcome | undefined): string {
  const { info, user, userAgent, annotations } = subject
  const event = {
    kind: 'Event',
    apiVersion: 'audit.orch.io/v1',
    level: 'Metadata',
    auditID: subject.auditId,
    stage,
    requestURI: clip(subject.url, MAX_URI),
    verb: clip(info.verb, MAX_AGENT),
    user: user === undefined ? {} : describeUser(user),
    sourceIPs: subject.sourceIPs,
    userAgent: userAgent === undefined ? undefined : clip(userAgent, MAX_AGENT),
    objectRef: info.isResourceRequest ? objectRef(info) : undefined,
    responseStatus: outcome === undefined ? undefined : responseStatus(outcome),
    requestReceivedTimestamp: micro(subject.receivedAt),
    stageTimestamp: micro(at),
    annotations: stage === 'RequestReceived' || Object.keys(annotations).length === 0 ? undefined : clipped(annotations)
  }
  return `${escapeRest(JSON.stringify(event))}\n`
}

function describeUser ({ username, uid, groups, extra }: UserInfo): Record<string, unknown> {
  return {
    username: clip(username, MAX_TEXT),
    ...(uid === '' ? {} : { uid: clip(uid, MAX_TEXT) }),
    ...(groups.length === 0 ? {} : { groups: groups.slice(0, MAX_LIST).map(group => clip(group, MAX_TEXT)) }),
    ...(Object.keys(extra).length === 0 ? {} : { extra: Object.fromEntries(Object.entries(extra).slice(0, MAX_LIST).map(([key, values]) => [clip(key, MAX_TEXT), values.slice(0, MAX_LIST).map(value => clip(value, MAX_TEXT))])) })
  }
}

const filled = (text: string): string | undefined => text === '' ? undefined : clip(text, MAX_TEXT)

const objectRef = (info: RequestInfo): Record<string, unknown> => ({
  resource: filled(info.resource),
  namespace: filled(info.namespace),
  name: filled(info.name),
  apiGroup: filled(info.group),
  apiVersion: filled(info.version),
  subresource: filled(info.subresource)
})

function responseStatus ({ code, failure }: Outcome): Record<string, unknown> {
  if (failure === undefined) return { metadata: {}, code }
  const { message, reason, details } = failure
  return {
    metadata: {},
    status: 'Failure',
    ...(message === undefined ? {} : { message: clip(message, MAX_TEXT) }),
    reason,
    ...(details === undefined ? {} : { details: { ...details, causes: undefined } }),
    code
  }
}

const clipped = (map: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, clip(value, MAX_TEXT)]))

/** Every value is quoted as in JSON, so that nothing a client sends can look like another field or line. */
export function legacyLine (stage: Stage, subject: Subject, at: Date, outcome: Outcome | undefined): string {
  const { info, user } = subject
  const quoted = (text: string | undefined, length = MAX_TEXT): string => escapeRest(JSON.stringify(clip(text ?? '<none>', length)))
  return `${at.toISOString()} AUDIT: id=${quoted(subject.auditId)} stage=${quoted(stage)} ip=${quoted(subject.sourceIPs.at(-1))}` +
    ` method=${quoted(info.verb)} user=${quoted(user?.username)} groups=${quoted(user?.groups.slice(0, MAX_LIST).join(','))} as="<self>" asgroups="<lookup>"` +
    ` user-agent=${quoted(subject.userAgent, MAX_AGENT)} namespace=${quoted(info.namespace === '' ? undefined : info.namespace)} uri=${quoted(subject.url, MAX_URI)}` +
    ` response="${outcome === undefined ? '<deferred>' : outcome.code}"\n`
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** The addresses a request says it came by, nearest last; what is no address is left out. */
export function sourceIPs (headers: Headers, remote: string | undefined): string[] {
  const text = (value: string | string[] | undefined): string => (Array.isArray(value) ? value.join(',') : value ?? '').slice(0, MAX_TEXT)
  const claimed = [...text(headers['x-forwarded-for']).split(','), text(headers['x-real-ip'])].map(address => address.trim())
  const own = (remote ?? '').replace(/^::ffff:(?=\d+\.)/, '')
  const all = [...claimed.slice(0, 10), own].filter(address => isIP(address) !== 0)
  return [...new Set(all)]
}
