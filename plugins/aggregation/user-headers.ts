/**
 * Headers of a request to an extension server: the user in X-Remote headers, and nothing with which the client could
 * pose as another user.
 */
import type { IncomingMessage } from 'node:http'
import { requestHeaders, type Forwarding } from '../shared/forwarding/headers.js'
import type { RemoteUser } from '../shared/outside.js'
import { claimsIdentity } from './identity-headers.js'

const USER = 'X-Remote-User'
const UID = 'X-Remote-Uid'
const GROUP = 'X-Remote-Group'
const EXTRA_PREFIX = 'X-Remote-Extra-'

const REPLACED = new Set(['host', 'via', 'audit-id', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-uri'])

/** Bytes that a header name may have, except %, which begins an escape. */
const isPlain = (byte: number): boolean => /[!#$&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(byte))
const escapedKey = (key: string): string => [...Buffer.from(key)]
  .map(byte => isPlain(byte) ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
  .join('')

/** Header values are bytes; Node writes each character as one. */
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

/**
 * The user cannot be sent: a value that HTTP forbids, or whose spaces the receiver would remove, would name another
 * user.
 */
export class UnsendableUser extends Error {
  constructor (name: string) {
    super(`the user cannot be passed on: invalid header field value for ${JSON.stringify(name)}`)
  }
}

function header (name: string, value: string): [string, string] {
  // eslint-disable-next-line no-control-regex -- matches control characters
  if (/[\0-\b\n-\x1f\x7f]|^\s|\s$/.test(value)) throw new UnsendableUser(name)
  return [name, bytesOf(value)]
}

/** @throws UnsendableUser */
export function userHeaders ({ username, uid = '', groups, extra }: RemoteUser): string[] {
  return [
    ...header(USER, username),
    ...(uid === '' ? [] : header(UID, uid)),
    ...groups.flatMap(group => header(GROUP, group)),
    ...Object.entries(extra ?? {}).flatMap(([name, values]) =>
      values.flatMap(value => header(EXTRA_PREFIX + escapedKey(name), value)))
  ]
}

export interface Passed extends Forwarding {
  readonly user: RemoteUser
  /** `host:port` of the extension server. */
  readonly host: string
  readonly uri: string
  readonly auditId: string
  /** This server's entry in Via headers. */
  readonly via: string
}

/** @throws UnsendableUser */
export function passedHeaders (
  request: IncomingMessage, { user, host, uri, auditId, via, client }: Passed
): string[] {
  const sent = requestHeaders(request, { client })
  const headers = ['Host', host]
  const passedBy: string[] = []
  for (let at = 0; at < sent.length; at += 2) {
    const [name, value] = [sent[at] as string, sent[at + 1] as string] // names and values alternate
    const lower = name.toLowerCase()
    if (lower === 'via') passedBy.push(value)
    if (!REPLACED.has(lower) && !claimsIdentity(lower)) headers.push(name, value)
  }
  headers.push(
    'Via', [...passedBy, via].join(', '), 'Audit-Id', auditId, 'X-Forwarded-Host', host, 'X-Forwarded-Proto', 'https',
    'X-Forwarded-Uri', uri
  )
  return [...headers, ...userHeaders(user)]
}
