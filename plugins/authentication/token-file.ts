/**
 * Static tokens from a CSV file: token, user name, user uid, and optionally the groups in one quoted column. Loaded
 * once at start-up. (Interface: Static token file, Bearer header.)
 */
import { hash } from 'node:crypto'
import type { Authenticator } from '../../auth/authenticator.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'

/** Parses a CSV line; a doubled quote stands for a quote. */
function fields (line: string, number: number): string[] {
  const values: string[] = []
  let at = 0
  for (;;) {
    while (line[at] === ' ') at++
    let value = ''
    if (line[at] === '"') {
      at++
      for (;;) {
        const close = line.indexOf('"', at)
        if (close < 0) throw new Error(`line ${number}: a quoted column does not end`)
        value += line.slice(at, close)
        at = close + 1
        if (line[at] !== '"') break
        value += '"'
        at++
      }
      while (line[at] === ' ') at++
      if (at < line.length && line[at] !== ',') throw new Error(`line ${number}: text after a quoted column`)
    } else {
      const comma = line.indexOf(',', at)
      value = line.slice(at, comma < 0 ? line.length : comma)
      at = comma < 0 ? line.length : comma
    }
    values.push(value)
    if (at >= line.length) return values
    at++
  }
}

/** Users by the digest of their token. @throws Error naming the line, never the token */
export function parseTokenFile (text: string): Map<string, UserInfo> {
  const users = new Map<string, UserInfo>()
  for (const [number, [token, username, uid, groups, ...rest]] of lines(text)) {
    if (token === undefined || username === undefined || uid === undefined) {
      throw new Error(`line ${number}: at least 3 columns are needed: token, user name, user uid`)
    }
    if (token === '') throw new Error(`line ${number}: the token is empty`)
    if (username === '') throw new Error(`line ${number}: the user name is empty`)
    const named = [groups ?? '', ...rest].join(',').split(',').map(group => group.trim()).filter(group => group !== '')
    users.set(digest(token), { username, uid, groups: named, extra: {} })
  }
  return users
}

/** Line numbers and fields of all lines but blanks and comments. */
function lines (text: string): Array<readonly [number, string[]]> {
  return text.replace(/^\uFEFF/, '').split(/\r?\n/).flatMap((line, index) =>
    line.trim() === '' || line.startsWith('#') ? [] : [[index + 1, fields(line, index + 1)] as const])
}

/** Tokens are looked up by digest: timing may reveal part of a digest, never of a token. */
const digest = (token: string): string => hash('sha256', token, 'base64')

const BEARER = /^bearer (?! )/i
/** As upstream, such a header is no credential. */
const SPACED = /^bearer {2}/i

/** The warning for the client if the token in its Authorization header is ignored. */
export const ignoredToken = (header: string | undefined): string | undefined =>
  header !== undefined && SPACED.test(header)
    ? 'the Authorization header has more than one space before its bearer token, which is therefore ignored'
    : undefined

/** The token of an Authorization header with the Bearer scheme. */
export function bearerToken (header: string | string[] | undefined): string | undefined {
  const value = Array.isArray(header) ? header[0] : header
  if (value === undefined) return undefined
  const match = BEARER.exec(value)
  const token = match === null ? '' : value.slice(match[0].length).trim()
  return token === '' ? undefined : token
}

export function tokenFileAuthenticator (text: string): Authenticator {
  const users = parseTokenFile(text)
  return {
    name: 'token-file',
    authenticate ({ headers }) {
      const token = bearerToken(headers.authorization)
      return token === undefined ? undefined : users.get(digest(token))
    }
  }
}
