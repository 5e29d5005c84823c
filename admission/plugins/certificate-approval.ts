/**
 * CertificateApproval: only who may `approve` for the signer that is asked, or for all signers of its domain, approves or denies a
 * certificate request. (Of the default set.)
 */
import { certificateSigningRequests } from '../../schemas/api/certificates/certificatesigningrequests.js'
import type { CertificateSigningRequest } from '../../schemas/api/certificates/certificatesigningrequests.js'
import { pluginFor } from '../../registry/admission.js'
import type { AdmissionPlugin } from '../../registry/admission.js'
import type { AdmissionTools } from '../options.js'
import { refusal } from '../refusal.js'
import { maySpeakFor } from '../signers.js'

export const certificateApproval = ({ authorize }: Pick<AdmissionTools, 'authorize'>): AdmissionPlugin => pluginFor<CertificateSigningRequest>(certificateSigningRequests, {
  name: 'CertificateApproval',
  operations: ['UPDATE'],
  subresources: ['approval'],
  validate: async request => {
    // The signer of the old one counts: whoever means another one changes nothing by it.
    const { signerName = '' } = request.oldObject?.spec ?? {}
    if (await maySpeakFor(authorize, request.user, 'approve', signerName)) return
    throw refusal(request, `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`)
  }
})
