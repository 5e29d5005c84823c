/**
 * JSON members of an audit event that describe user and request, without terminal control characters. Each request has
 * at least two events, so what they share is built once and users are cached.
 */
import { isIP } from 'node:net'
import type { RequestInfo } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { escapeControls, withoutUrlSecrets } from '../../schemas/quote.js'
import { oncePer } from '../../schemas/once-per.js'

/** Identifying metadata of an object. */
export interface SentObject {
  readonly name?: string | undefined, readonly namespace?: string | undefined, readonly uid?: string | undefined,
  readonly resourceVersion?: string | undefined
}

/** Known when the request arrives. */
export interface RequestFacts {
  readonly auditId: string
  readonly url: string
  readonly info: RequestInfo
  readonly user: UserInfo | undefined
  readonly receivedAt: Date
  readonly sourceIPs: readonly string[]
  readonly userAgent: string | undefined
}

const NO_ANNOTATIONS: Readonly<Record<string, string>> = Object.freeze({})

export class Subject {
  readonly facts: RequestFacts
  /** The user whom the request impersonates. */
  impersonatedUser: UserInfo | undefined = undefined
  /** The verb with which that was allowed, if it constrains it. */
  impersonationConstraint: string | undefined = undefined
  annotations = NO_ANNOTATIONS
  /** Metadata of the request object. */
  object: SentObject | undefined = undefined
  #id: string | undefined
  #who: string | undefined
  #how: string | undefined
  #objectRef: string | undefined
  #received: string | undefined

  constructor (facts: RequestFacts) { this.facts = facts }

  get id (): string {
    return this.#id ??= `"auditID":${quoted(this.facts.auditId)}`
  }

  get who (): string {
    const { url, info, user } = this.facts
    return this.#who ??= `"requestURI":${quoted(withoutUrlSecrets(url), MAX_URI)},` +
      `"verb":${quotedCached(info.verb)},"user":${user === undefined ? '{}' : userJson(user)}`
  }

  get how (): string {
    const { sourceIPs, userAgent } = this.facts
    return this.#how ??= `"sourceIPs":[${sourceIPs.map(quotedCached)
      .join()}]${userAgent === undefined ? '' : `,"userAgent":${quotedCached(userAgent)}`}`
  }

  /** Reference from the path alone. */
  get objectRef (): string {
    return this.#objectRef ??= refJson(this.facts.info, undefined)
  }

  /** Arrival time, with microseconds. */
  get received (): string {
    return this.#received ??= microTime(this.facts.receivedAt)
  }
}

export const MAX_URI = 4096
export const MAX_AGENT = 1024
export const MAX_TEXT = 2048
export const MAX_LIST = 100
/** Maximum characters of a user's groups in the legacy format. */
export const MAX_GROUPS = 4096

/** Limits every client-supplied string. */
export const truncate = (text: string, length = MAX_TEXT): string =>
  text.length > length ? `${text.slice(0, length)}...TRUNCATED` : text
export function quoted (text: string, length = MAX_TEXT): string {
  const clipped = truncate(text, length)
  return PLAIN.test(clipped) ? `"${clipped}"` : escapeControls(JSON.stringify(clipped))
}

/** Characters that need no escaping. */
const PLAIN = /^[ !#-[\]-~]*$/

/** Cache of frequent strings: verbs, resources, agents, annotations. */
const cached = new Map<string, string>()
const MAX_CACHED = 500
const MAX_CACHED_LENGTH = 200

/** Like `quoted`, with a bounded cache. */
export function quotedCached (text: string): string {
  const subject = cached.get(text)
  if (subject !== undefined) return subject
  const quotedText = quoted(text, MAX_AGENT)
  if (text.length <= MAX_CACHED_LENGTH) {
    if (cached.size >= MAX_CACHED) cached.clear()
    cached.set(text, quotedText)
  }
  return quotedText
}

/** Cached text of the current second: consecutive events mostly share it. */
let second = NaN
let text = ''

/** Formats a time with microseconds. */
export function microTime (date: Date): string {
  const at = date.getTime()
  const ms = at % 1000
  if (at - ms !== second) {
    second = at - ms
    text = date.toISOString().slice(0, -4)
  }
  return `${text}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}000Z`
}

const filled = (text: string): string | undefined => text === '' ? undefined : truncate(text)

export const userJson = oncePer(({ username, uid, groups, extra }: UserInfo) => escapeControls(JSON.stringify({
  username: truncate(username),
  uid: filled(uid),
  groups: groups.length === 0 ? undefined : groups.slice(0, MAX_LIST).map(group => truncate(group)),
  extra: Object.keys(extra).length === 0
    ? undefined
    : Object.fromEntries(Object.entries(extra).slice(0, MAX_LIST).map(([key, values]) =>
        [truncate(key), values.slice(0, MAX_LIST).map(value => truncate(value))]))
})))

/** Names come from the path, or from the object if the path has none. */
export function refJson (info: RequestInfo, sent: SentObject | undefined): string {
  const members = member('resource', quotedCached(info.resource)) +
    member('namespace', quoted(info.namespace || (sent?.namespace ?? ''))) +
    member('name', quoted(info.name || (sent?.name ?? ''))) + member('uid', quoted(sent?.uid ?? '')) +
    member('apiGroup', quotedCached(info.group)) + member('apiVersion', quotedCached(info.version)) +
    member('resourceVersion', quoted(sent?.resourceVersion ?? '')) +
      member('subresource', quotedCached(info.subresource))
  return `{${members.slice(1)}}`
}

const member = (name: string, value: string): string => value === '""' ? '' : `,"${name}":${value}`

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * Client addresses: those claimed in headers, then the connection's own, which headers cannot replace. Invalid
 * addresses are dropped.
 */
export function sourceIPs (headers: Headers, remote: string | undefined): string[] {
  const own = (remote ?? '').replace(/^::ffff:(?=\d+\.)/, '')
  const forwarded = addresses(headers['x-forwarded-for'])
  const real = addresses(headers['x-real-ip']).filter(address => !forwarded.includes(address))
  const claimed = [...forwarded, ...real].slice(0, MAX_HOPS)
  return isIP(own) === 0 || claimed.at(-1) === own ? claimed : [...claimed, own]
}

const MAX_HOPS = 10

const addresses = (value: string | string[] | undefined): string[] => value === undefined
  ? []
  : (Array.isArray(value) ? value.join(',') : value)
      .slice(0, MAX_TEXT).split(',').map(address => address.trim()).filter(address => isIP(address) !== 0)
