/**
 * Finds which authority issued a client certificate. TLS verifies against all authorities together; this module builds
 * the chain to one set of them: each certificate issued by the next, usable by clients, valid now, ending at a trusted
 * certificate, root or not. TLS rejects two kinds of good certificates: those with only `anyExtendedKeyUsage`, and
 * those issued by a trusted intermediate without its root. Its error may hide an earlier one, so these get stricter
 * checks: issued directly by a trusted certificate, no unsupported critical extensions, and no forgeable signature.
 */
import { X509Certificate } from 'node:crypto'
import { isUnderstood, isWeaklySigned } from './der.js'

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_USE = '2.5.29.37.0'

/** TLS errors that may concern a good certificate. */
export const RECHECKED_ERRORS: ReadonlySet<string> = new Set(['INVALID_PURPOSE', 'UNABLE_TO_GET_ISSUER_CERT'])

/**
 * True if the extended key usages are absent or include client authentication or any.
 * @param uses object identifiers
 */
export const usableByClient = (uses: readonly string[] | undefined): boolean => uses === undefined ||
  uses.includes(CLIENT_AUTH) || uses.includes(ANY_USE)

/** Parses the certificates of a PEM text. @throws Error for an invalid one */
export const parseAuthorities = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [])
    .map(block => new X509Certificate(block))

/** Maximum depth of a chain. */
const MAX_CHAIN_LENGTH = 5
/** Maximum signature checks per certificate. */
const MAX_SIGNATURE_CHECKS = 100

const isValidAt = (certificate: X509Certificate, now: number): boolean => Date.parse(certificate.validFrom) <= now &&
  now <= Date.parse(certificate.validTo)

export interface ChainOptions {
  /** Untrusted certificates that may link the leaf to a trusted one. */
  readonly intermediates?: readonly X509Certificate[]
  /** Milliseconds since 1970; the time at which certificates must be valid. */
  readonly now?: number
}

/**
 * Returns the issuers of a certificate up to a trusted one, or undefined.
 * @param trusted certificates that end the chain
 */
export function issuers (
  leaf: X509Certificate, trusted: readonly X509Certificate[],
  { intermediates = [], now = Date.now() }: ChainOptions = {}
): X509Certificate[] | undefined {
  let left = MAX_SIGNATURE_CHECKS
  const hasIssued = (authority: X509Certificate, below: X509Certificate): boolean =>
    // Node calls the extended key usages keyUsage.
    authority.ca && usableByClient(authority.keyUsage) && isValidAt(authority, now) && below.checkIssued(authority) &&
      left-- > 0 && below.verify(authority.publicKey)
  const above = (below: X509Certificate, levels: number): X509Certificate[] | undefined => {
    const anchor = trusted.find(issuer => hasIssued(issuer, below))
    if (anchor !== undefined) return [anchor]
    if (levels === 0) return undefined
    for (const issuer of intermediates) {
      if (!hasIssued(issuer, below)) continue
      const rest = above(issuer, levels - 1)
      if (rest !== undefined) return [issuer, ...rest]
    }
    return undefined
  }
  return above(leaf, MAX_CHAIN_LENGTH)
}

/** Returns the chain of a good certificate that TLS rejected, or undefined. */
export function chainBesideTls (
  leaf: X509Certificate, trusted: readonly X509Certificate[], now: number
): X509Certificate[] | undefined {
  if (!isUnderstood(leaf) || isWeaklySigned(leaf)) return undefined
  const above = issuers(leaf, trusted, { now })
  return above === undefined ? undefined : [leaf, ...above]
}
