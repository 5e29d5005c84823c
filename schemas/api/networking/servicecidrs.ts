/** ServiceCIDR: ranges from which services get their cluster IPs, while they are ready. */
import { age, join, name, text } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import { resource } from '../../resource.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'

/** Keeps ranges whose addresses are taken. */
export const RANGES_FINALIZER = 'networking.orch.io/service-cidr-finalizer'

export const serviceCIDRs = resource(v1.ServiceCIDR, {
  plural: 'servicecidrs',
  singular: 'servicecidr',
  namespaced: false,
  gate: 'MultiCIDRServiceAllocator',
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], keepsMetadata: OWN_METADATA }
  ],
  columns: [name, text('CIDRs', 'Ranges of addresses.', ({ spec }) => join(spec.cidrs)), age],
  others: [{
    ...sameFields(v1beta1.ServiceCIDR, v1.ServiceCIDR),
    deprecation: { deprecated: '1.34', removed: '1.37' }
  }]
})
