/** PodDisruptionBudget and Eviction of policy/v1beta1. */
import type { Static } from '../../language/declare.js'
import { declare } from './declarations.js'

export const API_VERSION = 'policy/v1beta1'

export const { PodDisruptionBudgetSpec, PodDisruptionBudgetStatus, PodDisruptionBudget, Eviction } = declare('v1beta1')

export type PodDisruptionBudgetSpec = Static<typeof PodDisruptionBudgetSpec>
export type PodDisruptionBudgetStatus = Static<typeof PodDisruptionBudgetStatus>
export type PodDisruptionBudget = Static<typeof PodDisruptionBudget>
export type Eviction = Static<typeof Eviction>

export {
  AllowedCSIDriver, AllowedFlexVolume, AllowedHostPath, FSGroupStrategyOptions, HostPortRange, IDRange,
  PodSecurityPolicy, PodSecurityPolicySpec, RunAsGroupStrategyOptions, RunAsUserStrategyOptions,
  RuntimeClassStrategyOptions, SELinuxStrategyOptions, SupplementalGroupsStrategyOptions
} from './podsecuritypolicies.js'
