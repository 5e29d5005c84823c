/** What networking.orch.io/v1beta1 has. */
import type { Static } from '../../language/declare.js'
import { declare } from './address-declarations.js'

export const API_VERSION = 'networking.orch.io/v1beta1'

export const {
  ParentReference, IPAddressSpec, IPAddress, ServiceCIDRSpec, ServiceCIDRStatus, ServiceCIDR
} = declare('v1beta1')

export type ParentReference = Static<typeof ParentReference>
export type IPAddressSpec = Static<typeof IPAddressSpec>
export type IPAddress = Static<typeof IPAddress>
export type ServiceCIDRSpec = Static<typeof ServiceCIDRSpec>
export type ServiceCIDRStatus = Static<typeof ServiceCIDRStatus>
export type ServiceCIDR = Static<typeof ServiceCIDR>
