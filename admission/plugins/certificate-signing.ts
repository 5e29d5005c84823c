/**
 * CertificateSigning: writing the certificate or the conditions of a certificate request requires the verb `sign` on
 * its signer or on all signers of the domain. (Enabled by default.)
 */
import {
  certificateSigningRequests, type CertificateSigningRequest
} from '../../schemas/api/certificates/certificatesigningrequests.js'
import { sameValue } from '../../schemas/language/values.js'
import { pluginFor, type AdmissionPlugin } from '../../registry/admission.js'
import type { AdmissionTools } from '../options.js'
import { refusal } from '../refusal.js'
import { isSignerAllowed } from '../signers.js'

export const certificateSigning = ({ authorize }: Pick<AdmissionTools, 'authorize'>): AdmissionPlugin =>
  pluginFor<CertificateSigningRequest>(certificateSigningRequests, {
    name: 'CertificateSigning',
    operations: ['UPDATE'],
    subresources: ['status'],
    validate: async request => {
      const { object, oldObject } = request
      if (object?.status.certificate === oldObject?.status.certificate &&
      sameValue(object?.status.conditions ?? [], oldObject?.status.conditions ?? [])) return
      const { signerName = '' } = oldObject?.spec ?? {}
      if (await isSignerAllowed(authorize, request.user, 'sign', signerName)) return
      throw refusal(request, `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`)
    }
  })
