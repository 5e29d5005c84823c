/** The types of certificates.orch.io/v1, for those who use them elsewhere. */
export {
  CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestSpec, CertificateSigningRequestStatus, ExtraValue
} from './certificatesigningrequests.js'
