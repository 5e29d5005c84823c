/**
 * Whom and what an audit event is about, as members of its JSON with nothing in them that a terminal obeys. What stays the same in
 * all events of a request is made once, users are kept: an event is made for each request, twice.
 */
import { isIP } from 'node:net'
import type { RequestInfo } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'

/** What the metadata of an object says of it. */
export interface SentObject { readonly name?: string | undefined, readonly namespace?: string | undefined, readonly uid?: string | undefined, readonly resourceVersion?: string | undefined }

/** What is known when a request comes. */
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
  /** Whom the user acts as. */
  impersonatedUser: UserInfo | undefined = undefined
  annotations = NO_ANNOTATIONS
  /** Of the object that was sent. */
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
    return this.#who ??= `"requestURI":${quoted(url, MAX_URI)},"verb":${often(info.verb)},"user":${user === undefined ? '{}' : userJson(user)}`
  }

  get how (): string {
    const { sourceIPs, userAgent } = this.facts
    return this.#how ??= `"sourceIPs":[${sourceIPs.map(often).join()}]${userAgent === undefined ? '' : `,"userAgent":${often(userAgent)}`}`
  }

  /** What was asked for, by the path alone. */
  get objectRef (): string {
    return this.#objectRef ??= refJson(this.facts.info, undefined)
  }

  /** When, as the convention writes it. */
  get received (): string {
    return this.#received ??= micro(this.facts.receivedAt)
  }
}

export const MAX_URI = 4096
export const MAX_AGENT = 1024
export const MAX_TEXT = 2048
export const MAX_LIST = 100
/** Of the groups of a user as one value. */
export const MAX_GROUPS = 4096

/** Every string that a client chose is cut. */
export const clip = (text: string, length = MAX_TEXT): string => text.length > length ? `${text.slice(0, length)}...TRUNCATED` : text
/** JSON leaves these as they are, and a terminal obeys some of them. */
export const escapeRest = (line: string): string =>
  line.replace(/[\u007f-\u009f\u2028\u2029]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
export function quoted (text: string, length = MAX_TEXT): string {
  const clipped = clip(text, length)
  return PLAIN.test(clipped) ? `"${clipped}"` : escapeRest(JSON.stringify(clipped))
}

/** Of what JSON and a terminal leave as it is. */
const PLAIN = /^[ !#-[\]-~]*$/

/** What comes again and again: verbs, resources, agents, annotations. */
const known = new Map<string, string>()
const MOST_KNOWN = 500
const MOST_KNOWN_LENGTH = 200

/** As `quoted`, and remembered while it is one of a few. */
export function often (text: string): string {
  const found = known.get(text)
  if (found !== undefined) return found
  const made = quoted(text, MAX_AGENT)
  if (text.length <= MOST_KNOWN_LENGTH) {
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(text, made)
  }
  return made
}

/** Up to its seconds, and which they are: most events are of one second with the one before. */
let second = NaN
let text = ''

/** A time as the convention writes it. */
export function micro (date: Date): string {
  const at = date.getTime()
  const ms = at % 1000
  if (at - ms !== second) {
    second = at - ms
    text = date.toISOString().slice(0, -4)
  }
  return `${text}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}000Z`
}

const filled = (text: string): string | undefined => text === '' ? undefined : clip(text)

const users = new WeakMap<UserInfo, string>()

export function userJson (user: UserInfo): string {
  const known = users.get(user)
  if (known !== undefined) return known
  const { username, uid, groups, extra } = user
  const json = escapeRest(JSON.stringify({
    username: clip(username),
    uid: filled(uid),
    groups: groups.length === 0 ? undefined : groups.slice(0, MAX_LIST).map(group => clip(group)),
    extra: Object.keys(extra).length === 0 ? undefined : Object.fromEntries(Object.entries(extra).slice(0, MAX_LIST).map(([key, values]) => [clip(key), values.slice(0, MAX_LIST).map(value => clip(value))]))
  }))
  users.set(user, json)
  return json
}

/** Names come from the path, and from the object where the path has none. */
export function refJson (info: RequestInfo, sent: SentObject | undefined): string {
  const members = member('resource', often(info.resource)) + member('namespace', quoted(info.namespace || (sent?.namespace ?? ''))) +
    member('name', quoted(info.name || (sent?.name ?? ''))) + member('uid', quoted(sent?.uid ?? '')) +
    member('apiGroup', often(info.group)) + member('apiVersion', often(info.version)) +
    member('resourceVersion', quoted(sent?.resourceVersion ?? '')) + member('subresource', often(info.subresource))
  return `{${members.slice(1)}}`
}

const member = (name: string, value: string): string => value === '""' ? '' : `,"${name}":${value}`

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * The addresses a request says it came by and, last, the one it did come from, which nobody else's word takes the place of;
 * what is no address is left out.
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
  : (Array.isArray(value) ? value.join(',') : value).slice(0, MAX_TEXT).split(',').map(address => address.trim()).filter(address => isIP(address) !== 0)
