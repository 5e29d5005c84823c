/** Claims of service account tokens. A token says by itself under which names it is. */
import { translateNamespace, translateUser } from './text.js'

type Claims = Readonly<Record<string, unknown>>

const PRIVATE = new Map([['orch.io', 'kubernetes.io'], ['kubernetes.io', 'orch.io']])
const ISSUERS = new Map([
  ['orch/serviceaccount', 'kubernetes/serviceaccount'], ['kubernetes/serviceaccount', 'orch/serviceaccount']
])
/** Of tokens that are kept in Secrets: `orch.io/serviceaccount/secret.name`. */
const KEPT = /^(orch\.io|kubernetes\.io)(?=\/serviceaccount\/)/

/** With the other names. Of what an issuer other than this server says, only what our tokens have is changed. */
export const translateClaims = (claims: Claims): Claims =>
  Object.fromEntries(Object.entries(claims).map(([name, value]): [string, unknown] => {
    const own = PRIVATE.get(name)
    if (own !== undefined) return [own, withNamespace(value)]
    if (KEPT.test(name)) {
      const other = name.replace(KEPT, domain => PRIVATE.get(domain) ?? domain)
      return [other, name.endsWith('/namespace') ? text(value, translateNamespace) : value]
    }
    if (name === 'sub') return [name, text(value, translateUser)]
    return [name, name === 'iss' && typeof value === 'string' ? ISSUERS.get(value) ?? value : value]
  }))

export const ownClaims = (claims: Claims): Claims =>
  'kubernetes.io' in claims || claims['iss'] === 'kubernetes/serviceaccount' ? translateClaims(claims) : claims

const text = (value: unknown, of: (text: string) => string): unknown => typeof value === 'string' ? of(value) : value

/** A namespace, and the name and uid of each object, which have no partners. */
const withNamespace = (value: unknown): unknown => typeof value === 'object' && value !== null && 'namespace' in value
  ? { ...value, namespace: text(value.namespace, translateNamespace) }
  : value
