/**
 * Rewrites URLs in a back end's responses to lead through the proxy: absolute URLs of its host, and paths from its
 * root.
 */
import { cleanPath } from '../shared/forwarding/paths.js'

export interface Place {
  /** The client's path of the back end's root: up to and including `proxy`. */
  readonly prefix: string
  /** `host:port` of the back end. */
  readonly backend: string
  /** The host in the client's request. */
  readonly host: string
}

/** Scheme, authority, path, query and fragment of any reference (RFC 3986, appendix B). */
const REFERENCE = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/s

/** Leaves URLs of other hosts and relative URLs unchanged. */
export function rewriteUrl (url: string, { prefix, backend, host }: Place): string {
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] = REFERENCE.exec(url) ?? []
  if ((authority !== '' && authority !== backend && authority !== host) || !path.startsWith('/')) return url
  // Keep the origin only if it is the client's host: the back end's is unreachable for the client.
  const origin = authority !== '' && authority === host ? `${scheme === '' ? '' : `${scheme}:`}//${authority}` : ''
  return `${origin}${path.startsWith(prefix) ? path : cleanPath(prefix + path)}${query}${fragment}`
}
