/** Claims of service account tokens. A token says by itself under which names it is. */
import { translate } from './text.js'

type Claims = Readonly<Record<string, unknown>>

const PRIVATE = new Map([['orch.io', 'kubernetes.io'], ['kubernetes.io', 'orch.io']])
const ISSUERS = new Map([['orch/serviceaccount', 'kubernetes/serviceaccount'], ['kubernetes/serviceaccount', 'orch/serviceaccount']])
/** Of tokens that are kept in Secrets: `orch.io/serviceaccount/secret.name`. */
const KEPT = /^(orch\.io|kubernetes\.io)(?=\/serviceaccount\/)/

/** With the other names. Of what an issuer other than this server says, only what our tokens have is changed. */
export const translateClaims = (claims: Claims): Claims => Object.fromEntries(Object.entries(claims).map(([name, value]): [string, unknown] => {
  const own = PRIVATE.get(name)
  if (own !== undefined) return [own, names(value)]
  if (KEPT.test(name)) return [name.replace(KEPT, domain => PRIVATE.get(domain) ?? domain), name.endsWith('.uid') ? value : text(value)]
  return [name, name === 'sub' ? text(value) : name === 'iss' && typeof value === 'string' ? ISSUERS.get(value) ?? value : value]
}))

export const ownClaims = (claims: Claims): Claims => 'kubernetes.io' in claims || claims['iss'] === 'kubernetes/serviceaccount' ? translateClaims(claims) : claims

const text = (value: unknown): unknown => typeof value === 'string' ? translate(value) : value

/** A namespace, and the name and uid of each object. */
const names = (value: unknown): unknown => typeof value === 'object' && value !== null
  ? Object.fromEntries(Object.entries(value).map(([name, member]): [string, unknown] => [name, typeof member === 'object' ? names(member) : name === 'uid' ? member : text(member)]))
  : value
