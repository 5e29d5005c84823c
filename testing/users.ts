/**
 * Users of a test server. A token contains its user, so users need no preparation. Nothing is verified; the server
 * listens on the loopback interface only.
 */
import type { Authenticator } from '../auth/authenticator.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import { StatusError } from '../schemas/status.js'
import { checkUser } from './options.js'

export interface TestUser {
  readonly username: string
  /** Default none; the server adds `system:authenticated`. */
  readonly groups?: readonly string[]
  /** Default ''. */
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** A member of the group that may do everything under every authorization mode. */
export const ADMINISTRATOR: TestUser = { username: 'test-admin', groups: ['system:masters'] }

/** The user that loads fixtures. */
export const LOADER: TestUser = { username: 'test-fixtures', groups: ['system:masters'] }

const PREFIX = 'test-user.'
const BEARER = `Bearer ${PREFIX}`

const infoOf = ({ username, groups = [], uid = '', extra = {} }: TestUser): UserInfo =>
  ({
    username, uid, groups: [...groups], extra: Object
      .fromEntries(Object.entries(extra).map(([name, values]) => [name, [...values]]))
  })

/** The bearer token of a user. @throws OptionError */
export function tokenOf (user: TestUser): string {
  checkUser(user)
  return PREFIX + Buffer.from(JSON.stringify(infoOf(user))).toString('base64url')
}

/** @param otherwise the user of requests without credentials; undefined for anonymous */
export function testUsers (otherwise: TestUser | undefined): Authenticator {
  if (otherwise !== undefined) checkUser(otherwise)
  const fallback = otherwise === undefined ? undefined : infoOf(otherwise)
  return {
    name: 'test users',
    authenticate: ({ headers: { authorization }, certificate }) => {
      if (authorization === undefined) return certificate === undefined ? fallback : undefined
      if (typeof authorization !== 'string' || !authorization.startsWith(BEARER)) return undefined
      return read(authorization.slice(BEARER.length))
    }
  }
}

function read (text: string): UserInfo {
  try {
    const user = JSON.parse(Buffer.from(text, 'base64url').toString()) as TestUser
    if (typeof user.username === 'string') return infoOf(user)
  } catch {}
  throw new StatusError('Unauthorized', 'the token of a test user is not one that the test server made')
}
