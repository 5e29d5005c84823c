/**
 * CertificateSubjectRestriction: refuses requests for client certificates of the group `system:masters`, which has all
 * permissions. (Enabled by default.)
 */
import {
  certificateSigningRequests, type CertificateSigningRequest
} from '../../schemas/api/certificates/certificatesigningrequests.js'
import { requestOrganizations } from '../../schemas/api/certificates/pem.js'
import { pluginFor } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

/** The second name is upstream's with only the domain renamed. */
const SIGNERS: ReadonlySet<string> = new Set(['orch.io/orch-apiserver-client', 'orch.io/kube-apiserver-client'])
const MASTERS = 'system:masters'

export const certificateSubjectRestriction = pluginFor<CertificateSigningRequest>(certificateSigningRequests, {
  name: 'CertificateSubjectRestriction',
  operations: ['CREATE'],
  validate: request => {
    const { signerName = '', request: pem = '' } = request.object?.spec ?? {}
    if (!SIGNERS.has(signerName)) return
    if (requestOrganizations(Buffer.from(pem, 'base64').toString()).includes(MASTERS)) {
      throw refusal(request, `use of ${signerName} signer with ${MASTERS} group is not allowed`)
    }
  }
})
