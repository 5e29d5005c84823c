/**
 * Reads the client certificate of a connection and determines whom it is trusted as. The TLS handshake accepts any
 * certificate, so that invalid ones get a 401 Status instead of a closed connection. The handshake may be long past, so
 * validity times and trust are checked on every request.
 */
import { hash, X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import type { DetailedPeerCertificate, TLSSocket, PeerCertificate } from 'node:tls'
import type { ClientCertificate } from '../../auth/authenticator.js'
import { chainBesideTls, issuers, RECHECKED_ERRORS, usableByClient } from './issuers.js'
import type { Trust } from './trust.js'

/** The result per connection, valid while the trusted authorities are unchanged. */
interface CachedIdentity {
  readonly trust: Trust
  readonly certificate: ClientCertificate
  /** Validity period of the whole chain, milliseconds since 1970. */
  readonly from: number
  readonly until: number
}

const read = new WeakMap<object, CachedIdentity | 'none'>()

/** Intermediates that clients have sent, kept because a resumed session no longer has them. */
const intermediates = new Map<string, X509Certificate>()
const MAX_INTERMEDIATES = 64

const listOf = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value]

/** The attribute of a subject with the UID of a user. */
const UID = '1.3.6.1.4.1.57683.2'

const NOBODY: Trust = { clients: undefined, proxies: undefined }

/**
 * @param connection stays the same between its requests. A socket does not: Node makes another one for each request
 * with a body over HTTP/2, and a chain costs a millisecond to verify
 */
export function certificateOf (
  socket: Socket, trust = NOBODY, connection: object = socket
): ClientCertificate | undefined {
  let seen = read.get(connection)
  if (seen === undefined) read.set(connection, seen = inspect(socket as Partial<TLSSocket>, trust) ?? 'none')
  if (seen === 'none') return undefined
  const now = Date.now()
  if (seen.trust === trust && now >= seen.from && now <= seen.until) return seen.certificate
  // Another certificate of the same authority may still be valid.
  const anew = inspect(socket as Partial<TLSSocket>, trust)
  if (anew !== undefined &&
    (seen.trust !== trust || anew.certificate.verified || anew.certificate.verifiedProxy === true)) {
    read.set(connection, seen = anew)
  }
  if (now >= seen.from && now <= seen.until) return seen.certificate
  return {
    ...seen.certificate, verified: false, verifiedProxy: false,
    problem: now < seen.from ? 'it is not valid yet' : 'it has expired'
  }
}

function inspect (socket: Partial<TLSSocket>, trust: Trust): CachedIdentity | undefined {
  if (typeof socket.getPeerCertificate !== 'function') return undefined
  const certificate = socket.getPeerCertificate(true) as DetailedPeerCertificate | null
  if (certificate === null || certificate.subject === undefined) return undefined
  // repeated fields are arrays
  const { CN, O, [UID]: uids } = certificate.subject as unknown as Record<string, string | string[] | undefined>
  const sent = sentWith(certificate)
  const as = (trusted: readonly X509Certificate[] | undefined): X509Certificate[] | undefined =>
    chainTo(socket, sent, trusted)
  // The host configured TLS without naming authorities: trust its verdict.
  const asClient = trust.clients === undefined && trust.proxies === undefined
    ? (isAuthorized(socket, certificate) ? sent : undefined)
    : as(trust.clients)
  const asProxy = as(trust.proxies)
  const chain = asClient ?? asProxy ?? sent
  const times = [...chain, ...asProxy ?? []]
  const from = Math.max(...times.map(link => Date.parse(link.validFrom)))
  const until = Math.min(...times.map(link => Date.parse(link.validTo)))
  const problem = socket.authorizationError
    ? String(socket.authorizationError)
    : 'no authority that is trusted has issued it'
  return {
    trust,
    certificate: {
      verified: asClient !== undefined,
      verifiedProxy: asProxy !== undefined,
      ...(asClient !== undefined
        ? {}
        : {
            problem: usableByClient(certificate.ext_key_usage)
              ? problem
              : 'its uses do not include client authentication'
          }),
      until,
      commonName: listOf(CN).at(-1) ?? '',
      organizations: listOf(O),
      uids: listOf(uids),
      sha256: hash('sha256', certificate.raw)
    },
    from,
    until
  }
}

const isAuthorized = (socket: Partial<TLSSocket>, { ext_key_usage: uses }: PeerCertificate): boolean =>
  socket.authorized === true && usableByClient(uses)

/** Returns the chain from the certificate to a trusted one, or undefined. */
function chainTo (
  socket: Partial<TLSSocket>, sent: readonly X509Certificate[], trusted: readonly X509Certificate[] | undefined
): X509Certificate[] | undefined {
  const [leaf, ...above] = sent
  if (leaf === undefined || trusted === undefined || !usableByClient(leaf.keyUsage)) return undefined
  if (socket.authorized !== true) {
    return RECHECKED_ERRORS.has(String(socket.authorizationError))
      ? chainBesideTls(leaf, trusted, Date.now())
      : undefined
  }
  remember(above)
  if (trusted.some(anchor => anchor.raw.equals(leaf.raw))) return [leaf]
  const path = issuers(leaf, trusted, { intermediates: [...above, ...intermediates.values()] })
  return path === undefined ? undefined : [leaf, ...path]
}

/** Only called for chains that TLS verified. */
function remember (certificates: readonly X509Certificate[]): void {
  for (const certificate of certificates) {
    if (intermediates.has(certificate.fingerprint256)) continue
    const [oldest] = intermediates.keys()
    if (oldest !== undefined && intermediates.size >= MAX_INTERMEDIATES) intermediates.delete(oldest)
    intermediates.set(certificate.fingerprint256, certificate)
  }
}

/** The peer's chain including the leaf, as TLS assembled it. */
function sentWith (leaf: DetailedPeerCertificate): X509Certificate[] {
  const chain = new Map<string, X509Certificate>()
  for (let certificate: PeerCertificate
    & { issuerCertificate?: DetailedPeerCertificate } | undefined = leaf; certificate !==
    undefined && !chain.has(certificate.fingerprint256); certificate = certificate.issuerCertificate) {
    chain.set(certificate.fingerprint256, new X509Certificate(certificate.raw))
  }
  return [...chain.values()]
}
