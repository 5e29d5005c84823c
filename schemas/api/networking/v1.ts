/** The public types of networking.orch.io/v1. */
import type { Static } from '../../language/declare.js'
import { declare } from './address-declarations.js'

export const {
  ParentReference, IPAddressSpec, IPAddress, ServiceCIDRSpec, ServiceCIDRStatus, ServiceCIDR
} = declare('v1')

export type ParentReference = Static<typeof ParentReference>
export type IPAddressSpec = Static<typeof IPAddressSpec>
export type IPAddress = Static<typeof IPAddress>
export type ServiceCIDRSpec = Static<typeof ServiceCIDRSpec>
export type ServiceCIDRStatus = Static<typeof ServiceCIDRStatus>
export type ServiceCIDR = Static<typeof ServiceCIDR>

export { IngressClass, IngressClassParametersReference, IngressClassSpec } from './ingressclasses.js'
export {
  HTTPIngressPath, HTTPIngressRuleValue, Ingress, IngressBackend, IngressRule, IngressRuleValue, IngressServiceBackend,
  IngressSpec, IngressStatus, IngressTLS, ServiceBackendPort
} from './ingresses.js'
export {
  IPBlock, NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicyPort,
  NetworkPolicySpec, NetworkPolicyStatus
} from './networkpolicies.js'
