/**
 * An authenticating proxy says in headers who asks. It is believed when its client certificate chains to
 * --requestheader-client-ca-file and its common name is one of those allowed; from anybody else the headers mean nothing. They
 * are taken out of every request, by any name that a proxy could take for one of them. (Interface: Request header proxy.)
 */
import type { Authenticator } from '../../auth/authenticator.js'
import type { Authorities } from '../../auth/authorities.js'
import { extraKey, headerText, valuesOf } from '../sent-headers.js'

export interface RequestHeaderOptions {
  /** `--requestheader-client-ca-file` in PEM. */
  readonly authorities: string | Authorities
  /** Common names of proxies. Default all that the authorities vouch for. */
  readonly allowedNames?: readonly string[]
  /** The first of these that a request has names the user. */
  readonly usernameHeaders: readonly string[]
  /** Each of these names a group, as often as it occurs. */
  readonly groupHeaders?: readonly string[]
  /** What follows, percent-decoded, is a key of extra. */
  readonly extraHeaderPrefixes?: readonly string[]
}

const lower = (names: readonly string[] = []): string[] => names.map(name => name.toLowerCase())

export function requestHeaderAuthenticator (options: RequestHeaderOptions): Authenticator {
  const { allowedNames = [] } = options
  const [userNames, groupNames, prefixes] = [lower(options.usernameHeaders), lower(options.groupHeaders), lower(options.extraHeaderPrefixes)]
  const allowed = new Set(allowedNames)
  return {
    name: 'request-header',
    authenticate ({ certificate, rawHeaders = [] }) {
      if (certificate === undefined) return undefined
      if (certificate.verifiedProxy !== true) {
        if (certificate.verified) return undefined // a client of its own
        throw new Error(`the client certificate is no proxy's: ${certificate.problem ?? 'no authority that is trusted for proxies has issued it'}`)
      }
      if (allowed.size > 0 && !allowed.has(certificate.commonName)) {
        if (certificate.verified) return undefined
        throw new Error('the common name of the client certificate is not in --requestheader-allowed-names')
      }
      const username = usernameOf(rawHeaders, userNames)
      if (username === undefined) return undefined
      return { username, uid: '', groups: groupNames.flatMap(name => valuesOf(rawHeaders, name)), extra: extraOf(rawHeaders, prefixes) }
    }
  }
}

/** @throws Error when it cannot be told which one is meant: the proxy's may stand beside one that was sent to it */
function usernameOf (rawHeaders: readonly string[], names: readonly string[]): string | undefined {
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
    const name = (rawHeaders[at] as string).toLowerCase() // they are pairs
    const prefix = prefixes.find(one => name.startsWith(one) && name.length > one.length)
    if (prefix === undefined) continue
    const key = extraKey(name.slice(prefix.length))
    extra.set(key, [...extra.get(key) ?? [], headerText(rawHeaders[at + 1] as string, name)])
  }
  return Object.fromEntries(extra)
}

/** Whether a header is one of those, or could be taken for one: some servers know no difference between - and _. */
export function isProxyHeader ({ usernameHeaders, groupHeaders = [], extraHeaderPrefixes = [] }: RequestHeaderOptions): (name: string) => boolean {
  const plain = (name: string): string => name.toLowerCase().replaceAll('_', '-')
  const names = new Set([...usernameHeaders, ...groupHeaders].map(plain))
  const prefixes = extraHeaderPrefixes.map(plain)
  return sent => {
    const name = plain(sent)
    return names.has(name) || prefixes.some(prefix => name.startsWith(prefix))
  }
}
