/** Verifies a token's signature and claims, once per token. */
import type { UserInfo } from '../../../schemas/meta/user-info.js'
import { readClaims, userOf } from './claims.js'
import type { Compact } from './compact.js'
import type { KeptToken } from './kept-tokens.js'
import type { TokenKey } from './keys.js'
import { checksOf, LEEWAY, type Check, type BindingCheckOptions } from './binding-checks.js'

export interface VerificationOptions extends BindingCheckOptions {
  readonly keys: () => readonly TokenKey[]
  /** Looks for keys that came since. Default there are none. */
  readonly refresh?: (() => Promise<void>) | undefined
  /** False accepts tokens stored in Secrets without checking Secret and account, `--service-account-lookup`. */
  readonly lookup: boolean
  /** Whether users say by which token and on which node they were authenticated. */
  readonly identifies: boolean
  readonly verify: (token: string, key: TokenKey) => Promise<void>
}

export interface Verified {
  readonly user: UserInfo
  /** Undefined means the server's audiences. */
  readonly audiences: readonly string[] | undefined
  /** Seconds since 1970. */
  readonly notBefore: number
  readonly expires: number
  readonly warnAfter: number | undefined
  readonly checks: readonly Check[]
  /** The Secret that keeps it. Default it was requested. */
  readonly kept?: KeptToken
}

/** Header members that name another key or change how the token is parsed. */
const FORBIDDEN_MEMBERS = ['jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64', 'zip']

/** The parts of a token whose issuer has been accepted. */
export interface Issued extends Compact { readonly issuer: string }

/** @throws Error if the token is invalid */
export async function verifyToken (
  token: string, digest: string, { header, claims, ambiguous, issuer }: Issued, options: VerificationOptions
): Promise<Verified> {
  if (ambiguous) throw new Error('the token has a member twice')
  const foreign = FORBIDDEN_MEMBERS.find(name => header[name] !== undefined)
  if (foreign !== undefined) throw new Error(`the header of the token has ${foreign}, which is not supported`)
  const read = readClaims(issuer, claims)
  const { keys, refresh, verify, lookup, now } = options
  checkTime(read, now()) // before the expensive signature check
  const { alg, kid } = header
  const matching = (): TokenKey[] =>
    keys().filter(({ id, algorithm }) => algorithm === alg && (kid === undefined || kid === id))
  if (refresh !== undefined && matching().length === 0) await refresh()
  const candidates = matching()
  if (candidates.length === 0) throw new Error('the token is signed by no key of this server')
  await Promise.any(candidates.map(key => verify(token, key)))
    .catch((error: unknown) => { throw new Error('the signature of the token is not valid', { cause: error }) })
  const { audiences, notBefore, expires, warnAfter } = read
  const checks = lookup || read.keptIn === undefined ? checksOf(read, digest, options) : []
  const { namespace, account, keptIn } = read
  return {
    user: userOf(read, options.identifies), audiences, notBefore, expires, warnAfter, checks,
    ...(keptIn === undefined ? {} : { kept: { namespace, secret: keptIn, account: account.name } })
  }
}

/** @param now milliseconds since 1970. @throws Error outside the token's validity */
export function checkTime ({ notBefore, expires }: Pick<Verified, 'notBefore' | 'expires'>, now: number): void {
  if (now >= expires * 1000) throw new Error('the token has expired')
  if (now < notBefore * 1000 - LEEWAY) throw new Error('the token is not valid yet')
}
