/**
 * URLs in what a backend answers, so that they lead through the proxy again: those of its own host, and paths from its
 * root, which is not where a client finds it.
 */
import { cleanPath } from './paths.js'

export interface Place {
  /** Where the root of the backend is for the client: our path up to and including `proxy`. */
  readonly prefix: string
  /** `host:port` of the backend. */
  readonly backend: string
  /** What the client takes for the host. */
  readonly host: string
}

/** Scheme, authority, path, query and fragment of any reference (RFC 3986, appendix B). */
const REFERENCE = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/s

/** A URL of another host, or relative to a page, stays as it is. */
export function rewriteUrl (url: string, { prefix, backend, host }: Place): string {
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] = REFERENCE.exec(url) ?? []
  if ((authority !== '' && authority !== backend && authority !== host) || !path.startsWith('/')) return url
  // One that names the host the client asked leads there; the backend's own leads nowhere for the client.
  const origin = authority !== '' && authority === host ? `${scheme === '' ? '' : `${scheme}:`}//${authority}` : ''
  return `${origin}${path.startsWith(prefix) ? path : cleanPath(prefix + path)}${query}${fragment}`
}
