/** PodDisruptionBudget and Eviction of policy/v1. */
import type { Static } from '../../language/declare.js'
import { declare } from './declarations.js'

export const API_VERSION = 'policy/v1'

export const { PodDisruptionBudgetSpec, PodDisruptionBudgetStatus, PodDisruptionBudget, Eviction } = declare('v1')

export type PodDisruptionBudgetSpec = Static<typeof PodDisruptionBudgetSpec>
export type PodDisruptionBudgetStatus = Static<typeof PodDisruptionBudgetStatus>
export type PodDisruptionBudget = Static<typeof PodDisruptionBudget>
export type Eviction = Static<typeof Eviction>
