/** Maps the claims of an ID token to a user. (Interface: the --oidc-… flags.) */
import type { UserInfo } from '../../../schemas/meta/user-info.js'

export type Claims = Readonly<Record<string, unknown>>

export interface ClaimOptions {
  /** `--oidc-username-claim`. Default sub. */
  readonly usernameClaim?: string
  /** `--oidc-username-prefix`; - means none. Default: the issuer and #, or none for the email claim. */
  readonly usernamePrefix?: string
  /** `--oidc-groups-claim`. Default none. */
  readonly groupsClaim?: string
  readonly groupsPrefix?: string
  /** `--oidc-required-claim`: string claims that tokens must have. */
  readonly requiredClaims?: ReadonlyMap<string, string>
}

const EMAIL = 'email'
const NO_PREFIX = '-'

function usernamePrefixOf ({ usernameClaim = 'sub', usernamePrefix = '' }: ClaimOptions, issuer: string): string {
  if (usernamePrefix === NO_PREFIX) return ''
  return usernamePrefix === '' && usernameClaim !== EMAIL ? `${issuer}#` : usernamePrefix
}

/** @throws Error that names the claim, never its value */
export function userOf (claims: Claims, issuer: string, options: ClaimOptions): UserInfo {
  const { usernameClaim = 'sub', groupsClaim = '', groupsPrefix = '', requiredClaims = new Map<string, string>() } =
    options
  const name = ownClaim(claims, usernameClaim)
  if (typeof name !== 'string' || name === '') throw new Error(`the claim ${usernameClaim} is missing or no text`)
  const verified = ownClaim(claims, 'email_verified')
  if (usernameClaim === EMAIL && verified !== undefined && verified !== true) {
    throw new Error('the address in the claim email is not verified')
  }
  for (const [claim, value] of requiredClaims) {
    if (ownClaim(claims, claim) !== value) throw new Error(`the claim ${claim} is not there, or not what it has to be`)
  }
  return {
    username: `${usernamePrefixOf(options, issuer)}${name}`,
    uid: '',
    groups: groupsClaim === ''
      ? []
      : groupsOf(ownClaim(claims, groupsClaim), groupsClaim).map(group => `${groupsPrefix}${group}`),
    extra: {}
  }
}

export const ownClaim = (claims: Claims, name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined

/** Accepts a string or a list of strings. @throws Error that names the claim */
export function groupsOf (value: unknown, claim: string): readonly string[] {
  if (value === undefined || value === null) return []
  const list: unknown = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list) || !list.every(item => typeof item === 'string')) {
    throw new Error(`the claim ${claim} is neither a text nor a list of texts`)
  }
  return list
}
