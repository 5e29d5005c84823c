/** Verifies that a certificate matches the host by its subject alternative names; the common name does not count. */
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'

export const NO_SUBJECT_ALT_NAME = 'NO_SUBJECT_ALT_NAME'

/**
 * Node has no code for SHA-1 and weaker signatures, only OpenSSL's text (checked with Node 20.20 and OpenSSL 3.0);
 * `test/plugins/audit/backends.test.ts`, 'connections to receivers whose certificate is signed with SHA-1', notices
 * other words.
 */
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
