/** What resource.orch.io/v1alpha3 has. */
import type { Static } from '../../language/declare.js'
import { declareTaint, declareTaintRules } from './taint-declarations.js'

export const API_VERSION = 'resource.orch.io/v1alpha3'

export const DeviceTaint = declareTaint('v1alpha3')
export const { DeviceTaintSelector, DeviceTaintRuleSpec, DeviceTaintRuleStatus, DeviceTaintRule } =
  declareTaintRules('v1alpha3', DeviceTaint)

export type DeviceTaint = Static<typeof DeviceTaint>
export type DeviceTaintSelector = Static<typeof DeviceTaintSelector>
export type DeviceTaintRuleSpec = Static<typeof DeviceTaintRuleSpec>
export type DeviceTaintRuleStatus = Static<typeof DeviceTaintRuleStatus>
export type DeviceTaintRule = Static<typeof DeviceTaintRule>
