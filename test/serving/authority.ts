/** An authority for tests and the certificates it issues. */
import type { Pair } from '../../config/certificates.js'
import { certify, type CertificateRequest } from '../../serving/certify.js'

const DAY = 86_400_000

export interface Authority extends Pair {
  issue: (
    request: Omit<CertificateRequest, 'issuer' | 'from' | 'until'> & Partial<Pick<CertificateRequest, 'from' | 'until'>>
  ) => Pair
}

export function authority (commonName = 'test authority'): Authority {
  const validity = { from: new Date(Date.now() - DAY), until: new Date(Date.now() + DAY) }
  const own = certify({ commonName, uses: ['server', 'client'], authority: true, ...validity })
  return { ...own, issue: request => certify({ ...validity, ...request, issuer: { commonName, key: own.key } }) }
}
