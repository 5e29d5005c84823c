/**
 * Groups that are too many for a token: it says where another token with them is to be had (`_claim_names`, `_claim_sources`). That
 * one has to be good by itself, of an issuer that is asked for its keys over https too.
 */
import { decodeJwt } from 'jose'
import { own, type Claims } from './claims.js'
import { httpsUrl, type Outside } from './outside.js'

export interface DistributedOptions {
  /** The claim that may be somewhere else. */
  readonly claim: string
  readonly outside: Outside
  /** The claims of a token of this issuer. @throws Error for one that is not good */
  readonly verify: (issuer: string, token: string) => Promise<Claims>
}

/** The claims with the one that was somewhere else. @throws Error when it cannot be had */
export async function resolveDistributed (claims: Claims, { claim, outside, verify }: DistributedOptions): Promise<Claims> {
  if (own(claims, claim) !== undefined) return claims
  const names = own(claims, '_claim_names')
  if (names === undefined) return claims
  const source = own(fields(names, '_claim_names'), claim)
  if (source === undefined) return claims
  if (typeof source !== 'string') throw new Error('_claim_names is malformed')
  const found = own(fields(own(claims, '_claim_sources'), '_claim_sources'), source)
  const { endpoint, access_token: token } = fields(found, `the source of the claim ${claim}`)
  if (endpoint === undefined || endpoint === '') return claims // it has the token in it, which is not what groups are taken from
  if (token !== undefined && (typeof token !== 'string' || !/^[!-~]*$/.test(token))) throw new Error('the access_token of a claim source is malformed')
  const answer = (await outside.text(httpsUrl(endpoint, `the source of the claim ${claim}`), token === '' ? undefined : token)).trim()
  const { iss } = decodeJwt(answer)
  if (typeof iss !== 'string') throw new Error(`what the source of the claim ${claim} answers has no issuer`)
  const value = own(await verify(iss, answer), claim)
  if (value === undefined) throw new Error(`what the source of the claim ${claim} answers does not have it`)
  return { ...claims, [claim]: value }
}

function fields (value: unknown, name: string): Claims {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${name} is missing or malformed`)
  return value as Claims
}
