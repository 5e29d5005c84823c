/** DenyServiceExternalIPs: refuses new external IPs of services. (Off by default.) */
import { services, type Service } from '../../schemas/api/core/services.js'
import { pluginFor } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

export const denyServiceExternalIPs = pluginFor<Service>(services, {
  name: 'DenyServiceExternalIPs',
  operations: ['CREATE', 'UPDATE'],
  validate: request => {
    const oldAddresses = new Set(request.oldObject?.spec.externalIPs)
    if (request.object?.spec.externalIPs?.every(address => oldAddresses.has(address)) === false) {
      throw refusal(request, 'Use of external IPs is denied by admission control')
    }
  }
})
