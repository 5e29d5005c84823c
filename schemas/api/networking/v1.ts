/** The public types of networking.orch.io/v1. */
export { IngressClass, IngressClassParametersReference, IngressClassSpec } from './ingressclasses.js'
export {
  HTTPIngressPath, HTTPIngressRuleValue, Ingress, IngressBackend, IngressRule, IngressRuleValue, IngressServiceBackend,
  IngressSpec, IngressStatus, IngressTLS, ServiceBackendPort
} from './ingresses.js'
export {
  IPBlock, NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicyPort,
  NetworkPolicySpec, NetworkPolicyStatus
} from './networkpolicies.js'
