/**
 * The certificate of a connection, and whom it is trusted as. The handshake itself accepts any certificate, so that a bad one gets
 * a 401 with a Status rather than a closed connection.
 *
 * A handshake, or the session it resumes, may lie far back: whether the certificate and those who vouch for it are
 * within their times, and still trusted, is looked at with each request.
 */
import { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import type { DetailedPeerCertificate, TLSSocket, PeerCertificate } from 'node:tls'
import type { ClientCertificate } from '../../auth/authenticator.js'
import { chainBesideTls, issuers, MAY_BE_GOOD, usableByClient } from './issuers.js'
import type { Trust } from './trust.js'

/** A connection's certificate never changes: read once per socket, and when other authorities are trusted. */
interface Seen {
  readonly trust: Trust
  readonly certificate: ClientCertificate
  /** Milliseconds of the wall clock between which all of its chain is valid. */
  readonly from: number
  readonly until: number
}

const read = new WeakMap<object, Seen | 'none'>()

/** What clients have sent beside their own certificates, as a session that is resumed does not have it any more. */
const intermediates = new Map<string, X509Certificate>()
const MOST_INTERMEDIATES = 64

const listOf = (value: string | string[] | undefined): string[] => value === undefined ? [] : Array.isArray(value) ? value : [value]

const NOBODY: Trust = { clients: undefined, proxies: undefined }

export function certificateOf (socket: Socket, trust = NOBODY): ClientCertificate | undefined {
  let seen = read.get(socket)
  if (seen === undefined) read.set(socket, seen = inspect(socket as Partial<TLSSocket>, trust) ?? 'none')
  if (seen === 'none') return undefined
  const now = Date.now()
  if (seen.trust === trust && now >= seen.from && now <= seen.until) return seen.certificate
  // Of several certificates of one authority it may have been one that is over that vouched for it.
  const anew = inspect(socket as Partial<TLSSocket>, trust)
  if (anew !== undefined && (seen.trust !== trust || anew.certificate.verified || anew.certificate.verifiedProxy === true)) read.set(socket, seen = anew)
  if (now >= seen.from && now <= seen.until) return seen.certificate
  return { ...seen.certificate, verified: false, verifiedProxy: false, problem: now < seen.from ? 'it is not valid yet' : 'it has expired' }
}

function inspect (socket: Partial<TLSSocket>, trust: Trust): Seen | undefined {
  if (typeof socket.getPeerCertificate !== 'function') return undefined
  const certificate = socket.getPeerCertificate(true) as DetailedPeerCertificate | null
  if (certificate === null || certificate.subject === undefined) return undefined
  const { CN, O } = certificate.subject as unknown as Record<string, string | string[] | undefined> // repeated fields come as lists
  const sent = sentWith(certificate)
  const as = (trusted: readonly X509Certificate[] | undefined): X509Certificate[] | undefined => chainTo(socket, sent, trusted)
  // Whoever made the TLS of a host knows whom it is for, and has said nothing else.
  const asClient = trust.clients === undefined && trust.proxies === undefined ? (isAuthorized(socket, certificate) ? sent : undefined) : as(trust.clients)
  const asProxy = as(trust.proxies)
  const chain = asClient ?? asProxy ?? sent
  const times = [...chain, ...asProxy ?? []]
  const from = Math.max(...times.map(one => Date.parse(one.validFrom)))
  const until = Math.min(...times.map(one => Date.parse(one.validTo)))
  const problem = socket.authorizationError ? String(socket.authorizationError) : 'no authority that is trusted has issued it'
  return {
    trust,
    certificate: {
      verified: asClient !== undefined,
      verifiedProxy: asProxy !== undefined,
      ...(asClient !== undefined ? {} : { problem: usableByClient(certificate.ext_key_usage) ? problem : 'its uses do not include client authentication' }),
      until,
      commonName: listOf(CN).at(-1) ?? '',
      organizations: listOf(O)
    },
    from,
    until
  }
}

const isAuthorized = (socket: Partial<TLSSocket>, { ext_key_usage: uses }: PeerCertificate): boolean => socket.authorized === true && usableByClient(uses)

/** The certificate and whoever vouches for it, up to one that is trusted. */
function chainTo (socket: Partial<TLSSocket>, sent: readonly X509Certificate[], trusted: readonly X509Certificate[] | undefined): X509Certificate[] | undefined {
  const [leaf, ...above] = sent
  if (leaf === undefined || trusted === undefined || !usableByClient(leaf.keyUsage)) return undefined
  if (socket.authorized !== true) return MAY_BE_GOOD.has(String(socket.authorizationError)) ? chainBesideTls(leaf, trusted, Date.now()) : undefined
  remember(above)
  if (trusted.some(one => one.raw.equals(leaf.raw))) return [leaf]
  const found = issuers(leaf, trusted, { intermediates: [...above, ...intermediates.values()] })
  return found === undefined ? undefined : [leaf, ...found]
}

/** Only what the TLS library believes gets here. */
function remember (certificates: readonly X509Certificate[]): void {
  for (const one of certificates) {
    if (intermediates.has(one.fingerprint256)) continue
    const [oldest] = intermediates.keys()
    if (oldest !== undefined && intermediates.size >= MOST_INTERMEDIATES) intermediates.delete(oldest)
    intermediates.set(one.fingerprint256, one)
  }
}

/** With itself. As the TLS library finds them now, among those the client has sent and those that are trusted. */
function sentWith (leaf: DetailedPeerCertificate): X509Certificate[] {
  const chain = new Map<string, X509Certificate>()
  for (let one: PeerCertificate & { issuerCertificate?: DetailedPeerCertificate } | undefined = leaf; one !== undefined && !chain.has(one.fingerprint256); one = one.issuerCertificate) {
    chain.set(one.fingerprint256, new X509Certificate(one.raw))
  }
  return [...chain.values()]
}
