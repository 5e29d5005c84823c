/** The resources of mutating admission policies and their bindings. */
import { age, integer, name, text, type Column } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { resource } from '../../resource.js'
import type { VersionRules } from '../../strategy.js'
import { paramKindCell, paramRefCell } from './policy-columns.js'
import { validateMutatingPolicy } from './rules/mutating-policies.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'

const COMMON = {
  categories: ['api-extensions'], namespaced: false, unconditionalUpdate: false, gate: 'MutatingAdmissionPolicy'
} as const

const ofPolicies: ReadonlyArray<Column<v1beta1.MutatingAdmissionPolicy>> = [
  name,
  integer('Mutations', 'Number of mutations.', ({ spec }) => spec.mutations?.length ?? 0),
  text('ParamKind', 'Kind of the parameters.', ({ spec }) => paramKindCell(spec.paramKind)),
  age
]

const ofBindings: ReadonlyArray<Column<v1beta1.MutatingAdmissionPolicyBinding>> = [
  name,
  text('PolicyName', 'Name of the policy.', ({ spec }) => spec.policyName ?? ''),
  text('ParamRef', 'Parameters of the policy.', ({ spec }) => paramRefCell(spec.paramRef)),
  age
]

const rules: VersionRules<v1beta1.MutatingAdmissionPolicy> = {
  inSteps: ({ spec }, _old, report) => validateMutatingPolicy(spec, report)
}

export const mutatingAdmissionPolicies = resource(v1beta1.MutatingAdmissionPolicy, {
  ...COMMON,
  plural: 'mutatingadmissionpolicies',
  singular: 'mutatingadmissionpolicy',
  generation: ({ spec }) => spec,
  rules,
  columns: ofPolicies,
  others: [{ ...sameFields(v1.MutatingAdmissionPolicy, v1beta1.MutatingAdmissionPolicy), rules }]
})

export const mutatingAdmissionPolicyBindings = resource(v1beta1.MutatingAdmissionPolicyBinding, {
  ...COMMON,
  plural: 'mutatingadmissionpolicybindings',
  singular: 'mutatingadmissionpolicybinding',
  generation: ({ spec }) => spec,
  columns: ofBindings,
  others: [sameFields(v1.MutatingAdmissionPolicyBinding, v1beta1.MutatingAdmissionPolicyBinding)]
})
