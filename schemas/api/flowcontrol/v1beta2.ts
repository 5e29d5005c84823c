/** FlowSchema and PriorityLevelConfiguration of flowcontrol.apiserver.orch.io/v1beta2. */
import type { Static } from '../../language/declare.js'
import { ASSURED, declare } from './declarations.js'

export const API_VERSION = 'flowcontrol.apiserver.orch.io/v1beta2'

export const {
  FlowDistinguisherMethod, PriorityLevelConfigurationReference, UserSubject, GroupSubject, ServiceAccountSubject,
  Subject, ResourcePolicyRule, NonResourcePolicyRule, PolicyRulesWithSubjects, FlowSchemaSpec, FlowSchemaCondition,
  FlowSchemaStatus, FlowSchema, QueuingConfiguration, LimitResponse, ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration, PriorityLevelConfigurationSpec, PriorityLevelConfigurationCondition,
  PriorityLevelConfigurationStatus, PriorityLevelConfiguration
} = declare('v1beta2', ASSURED, { since: '1.29' })

export type FlowDistinguisherMethod = Static<typeof FlowDistinguisherMethod>
export type PriorityLevelConfigurationReference = Static<typeof PriorityLevelConfigurationReference>
export type UserSubject = Static<typeof UserSubject>
export type GroupSubject = Static<typeof GroupSubject>
export type ServiceAccountSubject = Static<typeof ServiceAccountSubject>
export type Subject = Static<typeof Subject>
export type ResourcePolicyRule = Static<typeof ResourcePolicyRule>
export type NonResourcePolicyRule = Static<typeof NonResourcePolicyRule>
export type PolicyRulesWithSubjects = Static<typeof PolicyRulesWithSubjects>
export type FlowSchemaSpec = Static<typeof FlowSchemaSpec>
export type FlowSchemaCondition = Static<typeof FlowSchemaCondition>
export type FlowSchemaStatus = Static<typeof FlowSchemaStatus>
export type FlowSchema = Static<typeof FlowSchema>
export type QueuingConfiguration = Static<typeof QueuingConfiguration>
export type LimitResponse = Static<typeof LimitResponse>
export type ExemptPriorityLevelConfiguration = Static<typeof ExemptPriorityLevelConfiguration>
export type LimitedPriorityLevelConfiguration = Static<typeof LimitedPriorityLevelConfiguration>
export type PriorityLevelConfigurationSpec = Static<typeof PriorityLevelConfigurationSpec>
export type PriorityLevelConfigurationCondition = Static<typeof PriorityLevelConfigurationCondition>
export type PriorityLevelConfigurationStatus = Static<typeof PriorityLevelConfigurationStatus>
export type PriorityLevelConfiguration = Static<typeof PriorityLevelConfiguration>
