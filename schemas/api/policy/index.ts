/** The resources of policy: what may happen to pods, and what they may be like. */
import { podDisruptionBudgets } from './poddisruptionbudgets.js'
import { podSecurityPolicies } from './podsecuritypolicies.js'

export const policy = [podDisruptionBudgets, podSecurityPolicies]
