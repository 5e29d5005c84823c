/**
 * CertificateApproval: approving or denying a certificate request requires the verb `approve` on its signer or on all
 * signers of the domain. (Of the default set.)
 */
import {
  certificateSigningRequests, type CertificateSigningRequest
} from '../../schemas/api/certificates/certificatesigningrequests.js'
import { pluginFor, type AdmissionPlugin } from '../../registry/admission.js'
import type { AdmissionTools } from '../options.js'
import { refusal } from '../refusal.js'
import { isSignerAllowed } from '../signers.js'

export const certificateApproval = ({ authorize }: Pick<AdmissionTools, 'authorize'>): AdmissionPlugin =>
  pluginFor<CertificateSigningRequest>(certificateSigningRequests, {
    name: 'CertificateApproval',
    operations: ['UPDATE'],
    subresources: ['approval'],
    validate: async request => {
    // Use the stored signer name; the update cannot change it.
      const { signerName = '' } = request.oldObject?.spec ?? {}
      if (await isSignerAllowed(authorize, request.user, 'approve', signerName)) return
      throw refusal(request, `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`)
    }
  })
