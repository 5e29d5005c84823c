/** MutatingAdmissionPolicy and its binding of admissionregistration.orch.io/v1beta1, in which they are stored. */
import type { Static } from '../../language/declare.js'
import { declare } from './mutating-declarations.js'

export const API_VERSION = 'admissionregistration.orch.io/v1beta1'

export const {
  MatchCondition, ParamKind, ParamRef, MatchResources, NamedRuleWithOperations, Variable, ApplyConfiguration, JSONPatch,
  Mutation, MutatingAdmissionPolicySpec, MutatingAdmissionPolicy, MutatingAdmissionPolicyBindingSpec,
  MutatingAdmissionPolicyBinding
} = declare('v1beta1')

export type MatchCondition = Static<typeof MatchCondition>
export type ParamKind = Static<typeof ParamKind>
export type ParamRef = Static<typeof ParamRef>
export type MatchResources = Static<typeof MatchResources>
export type NamedRuleWithOperations = Static<typeof NamedRuleWithOperations>
export type Variable = Static<typeof Variable>
export type ApplyConfiguration = Static<typeof ApplyConfiguration>
export type JSONPatch = Static<typeof JSONPatch>
export type Mutation = Static<typeof Mutation>
export type MutatingAdmissionPolicySpec = Static<typeof MutatingAdmissionPolicySpec>
export type MutatingAdmissionPolicy = Static<typeof MutatingAdmissionPolicy>
export type MutatingAdmissionPolicyBindingSpec = Static<typeof MutatingAdmissionPolicyBindingSpec>
export type MutatingAdmissionPolicyBinding = Static<typeof MutatingAdmissionPolicyBinding>
