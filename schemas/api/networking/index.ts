/** The resources of networking.orch.io: traffic into the cluster and within it. */
import { ingressClasses } from './ingressclasses.js'
import { ingresses } from './ingresses.js'
import { networkPolicies } from './networkpolicies.js'

export const networking = [ingressClasses, ingresses, networkPolicies]
