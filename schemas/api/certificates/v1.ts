/** The public types of certificates.orch.io/v1. */
export {
  CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestSpec,
  CertificateSigningRequestStatus, ExtraValue
} from './certificatesigningrequests.js'
