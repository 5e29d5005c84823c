/** Whether a certificate is for the host that was called: by the names it is issued for. A common name is none of them. */
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'

export const NO_SUBJECT_ALT_NAME = 'NO_SUBJECT_ALT_NAME'

/** What Node.js says, without a code, of a chain that is signed with SHA-1 or less. */
export const isWeaklySigned = (error: Error | null): boolean => /\bdigest algorithm too weak\b/.test(error?.message ?? '')

/** Node.js believes the common name of a certificate that has no other. @param missing told of one without */
export const identityCheck = (missing: () => void = () => {}) => (host: string, certificate: PeerCertificate): Error | undefined => {
  if (certificate.subjectaltname !== undefined) return checkServerIdentity(host, certificate)
  missing()
  if (isIP(host) !== 0) return checkServerIdentity(host, certificate)
  return Object.assign(new Error('the certificate has no subject alternative name'), { code: NO_SUBJECT_ALT_NAME })
}
