/**
 * Resolves distributed groups claims: the token refers to an endpoint (`_claim_names`, `_claim_sources`) that returns a
 * second token with the groups. That token is verified with its own issuer's keys, fetched over https.
 */
import { decodeJwt } from 'jose'
import { ownClaim, type Claims } from './claims.js'
import { httpsUrl, type DocumentFetcher } from './document-fetcher.js'
import { issuerNamed } from './issuer.js'

export interface DistributedOptions {
  /** The claim that may be distributed. */
  readonly claim: string
  readonly fetcher: DocumentFetcher
  /** Verifies a token of this issuer and returns its claims. @throws Error if it is invalid */
  readonly verify: (issuer: string, token: string) => Promise<Claims>
}

/** Returns the claims including the distributed one. @throws Error if it cannot be resolved */
export async function resolveDistributed (
  claims: Claims, { claim, fetcher, verify }: DistributedOptions
): Promise<Claims> {
  if (ownClaim(claims, claim) !== undefined) return claims
  const names = ownClaim(claims, '_claim_names')
  if (names === undefined) return claims
  const source = ownClaim(fields(names, '_claim_names'), claim)
  if (source === undefined) return claims
  if (typeof source !== 'string') throw new Error('_claim_names is malformed')
  const reference = ownClaim(fields(ownClaim(claims, '_claim_sources'), '_claim_sources'), source)
  const { endpoint, access_token: token } = fields(reference, `the source of the claim ${claim}`)
  if (endpoint === undefined || endpoint === '') return claims // an aggregated claim, which is not supported for groups
  if (token !== undefined && (typeof token !== 'string' || !/^[!-~]*$/.test(token))) {
    throw new Error('the access_token of a claim source is malformed')
  }
  const answer = (await fetcher
    .text(httpsUrl(endpoint, `the source of the claim ${claim}`), token === '' ? undefined : token)).trim()
  const iss = issuerNamed(decodeJwt(answer).iss)
  if (typeof iss !== 'string') throw new Error(`what the source of the claim ${claim} answers has no issuer`)
  const value = ownClaim(await verify(iss, answer), claim)
  if (value === undefined) throw new Error(`what the source of the claim ${claim} answers does not have it`)
  return { ...claims, [claim]: value }
}

function fields (value: unknown, name: string): Claims {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${name} is missing or malformed`)
  }
  return value as Claims
}
