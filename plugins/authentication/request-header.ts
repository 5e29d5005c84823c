/**
 * Authenticates by headers of an authenticating proxy. The proxy needs a client certificate issued by
 * --requestheader-client-ca-file with an allowed common name; headers of other clients are ignored. All such headers
 * are removed from every request, including spellings that a proxy might treat as equal. (Interface: Request header
 * proxy.)
 */
import type { Authenticator } from '../../auth/authenticator.js'
import type { Authorities } from '../../auth/authorities.js'
import { extraKey, headerText, valuesOf } from '../shared/sent-headers.js'

export interface RequestHeaderOptions {
  /** `--requestheader-client-ca-file` in PEM. */
  readonly authorities: string | Authorities
  /** Common names of proxies. Default all that the authorities have issued. */
  readonly allowedNames?: readonly string[]
  /** The first of these present in a request names the user. */
  readonly usernameHeaders: readonly string[]
  /** Each value of these names a group. */
  readonly groupHeaders?: readonly string[]
  /** The rest of the name, percent-decoded, is a key of extra. */
  readonly extraHeaderPrefixes?: readonly string[]
  /** The first of these present in a request has the UID. */
  readonly uidHeaders?: readonly string[]
}

const lower = (names: readonly string[] = []): string[] => names.map(name => name.toLowerCase())

export function requestHeaderAuthenticator (options: RequestHeaderOptions): Authenticator {
  const { allowedNames = [] } = options
  const [userNames, groupNames, prefixes, uidNames] = [
    lower(options.usernameHeaders), lower(options.groupHeaders), lower(options.extraHeaderPrefixes),
    lower(options.uidHeaders)
  ]
  const allowed = new Set(allowedNames)
  return {
    name: 'request-header',
    authenticate ({ certificate, rawHeaders = [] }) {
      if (certificate === undefined) return undefined
      if (certificate.verifiedProxy !== true) {
        if (certificate.verified) return undefined // an ordinary client
        throw new Error('the client certificate is no proxy\'s: ' +
          `${certificate.problem ?? 'no authority that is trusted for proxies has issued it'}`)
      }
      if (allowed.size > 0 && !allowed.has(certificate.commonName)) {
        if (certificate.verified) return undefined
        throw new Error('the common name of the client certificate is not in --requestheader-allowed-names')
      }
      const username = valueOf(rawHeaders, userNames)
      if (username === undefined) return undefined
      return {
        username,
        uid: valueOf(rawHeaders, uidNames) ?? '',
        groups: groupNames.flatMap(name => valuesOf(rawHeaders, name)),
        extra: extraOf(rawHeaders, prefixes)
      }
    }
  }
}

/** @throws Error for a repeated header: the proxy may have appended its own to a client's */
function valueOf (rawHeaders: readonly string[], names: readonly string[]): string | undefined {
  for (const name of names) {
    const values = valuesOf(rawHeaders, name)
    if (values.length > 1) throw new Error(`the header ${name} occurs more than once`)
    if (values.length === 1) return values[0]
  }
  return undefined
}

function extraOf (rawHeaders: readonly string[], prefixes: readonly string[]): Record<string, readonly string[]> {
  const extra = new Map<string, string[]>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase() // names and values alternate
    const prefix = prefixes.find(candidate => name.startsWith(candidate) && name.length > candidate.length)
    if (prefix === undefined) continue
    const key = extraKey(name.slice(prefix.length))
    extra.set(key, [...extra.get(key) ?? [], headerText(rawHeaders[at + 1] as string, name)])
  }
  return Object.fromEntries(extra)
}

/** Matches proxy headers, treating - and _ as equal, as some servers do. */
export function isProxyHeader (
  { usernameHeaders, groupHeaders = [], extraHeaderPrefixes = [], uidHeaders = [] }: RequestHeaderOptions
): (name: string) => boolean {
  const plain = (name: string): string => name.toLowerCase().replaceAll('_', '-')
  const names = new Set([...usernameHeaders, ...groupHeaders, ...uidHeaders].map(plain))
  const prefixes = extraHeaderPrefixes.map(plain)
  return sent => {
    const name = plain(sent)
    return names.has(name) || prefixes.some(prefix => name.startsWith(prefix))
  }
}
