/** Verifies that a certificate matches the host by its subject alternative names; the common name does not count. */
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'

export const NO_SUBJECT_ALT_NAME = 'NO_SUBJECT_ALT_NAME'

/** Node reports SHA-1 or weaker signatures without an error code. */
export const isWeaklySigned = (error: Error | null): boolean =>
  /\bdigest algorithm too weak\b/.test(error?.message ?? '')

/**
 * Node would accept the common name of a certificate without alternative names.
 * @param missing called for such certificates
 */
export const identityCheck = (missing: () => void = () => {}) =>
  (host: string, certificate: PeerCertificate): Error | undefined => {
    if (certificate.subjectaltname !== undefined) return checkServerIdentity(host, certificate)
    missing()
    if (isIP(host) !== 0) return checkServerIdentity(host, certificate)
    return Object.assign(new Error('the certificate has no subject alternative name'), { code: NO_SUBJECT_ALT_NAME })
  }
