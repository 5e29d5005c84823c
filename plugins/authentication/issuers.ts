/**
 * Who vouches for a client certificate. The TLS library has looked at it already, against all authorities together; which of
 * them it was is found out here, narrowly: certificates that were issued by one another, each good for clients, valid now,
 * up to one of the authorities, which is trusted whether it is a root or not.
 *
 * Two kinds the TLS library refuses though they are good: those that are for any use (`anyExtendedKeyUsage` alone), for its
 * purpose of a client, and those of an authority in the file that is no root. With that refusal it may cover an earlier
 * one. What is found here is all there is for these, so one of the file must have issued them itself, nothing
 * critical may be in them that is not understood here, and their signature not of a kind that can be forged.
 */
import { X509Certificate } from 'node:crypto'
import { isUnderstood, isWeaklySigned } from './der.js'

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_USE = '2.5.29.37.0'

/** What the TLS library says of them, whatever else it may have found before. */
export const MAY_BE_GOOD: ReadonlySet<string> = new Set(['INVALID_PURPOSE', 'UNABLE_TO_GET_ISSUER_CERT'])

/** A certificate that lists its uses must list client authentication, or any. @param uses object identifiers */
export const usableByClient = (uses: readonly string[] | undefined): boolean => uses === undefined || uses.includes(CLIENT_AUTH) || uses.includes(ANY_USE)

/** The certificates of a PEM text. @throws Error for one that is broken */
export const parseAuthorities = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []).map(block => new X509Certificate(block))

/** Authorities above one another; more than anybody has. */
const MOST_LEVELS = 5
/** Signatures that are looked at for one certificate. */
const MOST_SIGNATURES = 100

const isValidAt = (certificate: X509Certificate, now: number): boolean => Date.parse(certificate.validFrom) <= now && now <= Date.parse(certificate.validTo)

export interface Between {
  /** Certificates of authorities that are trusted for being issued by one that is. */
  readonly intermediates?: readonly X509Certificate[]
  /** Milliseconds of the wall clock; certificates are not valid at another time. */
  readonly now?: number
}

/**
 * Those who vouch for it, up to one that is trusted, or undefined.
 * @param trusted whoever is named there
 */
export function issuers (leaf: X509Certificate, trusted: readonly X509Certificate[], { intermediates = [], now = Date.now() }: Between = {}): X509Certificate[] | undefined {
  let left = MOST_SIGNATURES
  const hasIssued = (authority: X509Certificate, below: X509Certificate): boolean =>
    // Node calls the list of extended uses keyUsage.
    authority.ca && usableByClient(authority.keyUsage) && isValidAt(authority, now) && below.checkIssued(authority) && left-- > 0 && below.verify(authority.publicKey)
  const above = (below: X509Certificate, levels: number): X509Certificate[] | undefined => {
    const anchor = trusted.find(one => hasIssued(one, below))
    if (anchor !== undefined) return [anchor]
    if (levels === 0) return undefined
    for (const one of intermediates) {
      if (!hasIssued(one, below)) continue
      const rest = above(one, levels - 1)
      if (rest !== undefined) return [one, ...rest]
    }
    return undefined
  }
  return above(leaf, MOST_LEVELS)
}

/** Its chain, when one that is trusted has issued it, though the TLS library does not take it. */
export function chainBesideTls (leaf: X509Certificate, trusted: readonly X509Certificate[], now: number): X509Certificate[] | undefined {
  if (!isUnderstood(leaf) || isWeaklySigned(leaf)) return undefined
  const above = issuers(leaf, trusted, { now })
  return above === undefined ? undefined : [leaf, ...above]
}
