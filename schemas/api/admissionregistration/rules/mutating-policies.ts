/** Validation of mutating admission policies and their bindings. */
import { listOf, type Type } from '../../../../expressions/types.js'
import type { Report } from '../../../language/types.js'
import { invalid, notSupported, required } from '../../../rules/findings.js'
import type { Steps } from '../../../steps.js'
import { JSON_PATCH, OBJECT, policyEnvironment, type PolicyVariables } from '../policy-expressions.js'
import type { Mutation, MutatingAdmissionPolicyBindingSpec, MutatingAdmissionPolicySpec } from '../v1.js'
import { compiled } from './expressions.js'
import { validateCommon, validateCommonOfBinding } from './policies.js'

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE']
const REINVOCATIONS = ['IfNeeded', 'Never']
/** Each kind of patch, with its field and what its expression makes. */
const PATCHES: Readonly<Record<string, { readonly field: 'applyConfiguration' | 'jsonPatch', readonly of: Type }>> = {
  ApplyConfiguration: { field: 'applyConfiguration', of: OBJECT },
  JSONPatch: { field: 'jsonPatch', of: listOf(JSON_PATCH) }
}

/** In steps: it compiles every expression. */
export function * validateMutatingPolicy (spec: MutatingAdmissionPolicySpec, report: Report): Steps<void> {
  const given = yield * validateCommon(spec, report, OPERATIONS)
  const { mutations = [], reinvocationPolicy = '' } = spec
  if (mutations.length === 0) required(report, 'spec.mutations', 'mutations must contain at least one item')
  for (const [index, mutation] of mutations.entries()) {
    validateMutation(mutation, given, `spec.mutations[${index}]`, report)
    yield
  }
  if (reinvocationPolicy === '') required(report, 'spec.reinvocationPolicy')
  else if (!REINVOCATIONS.includes(reinvocationPolicy)) {
    notSupported(report, 'spec.reinvocationPolicy', reinvocationPolicy, REINVOCATIONS)
  }
}

function validateMutation (mutation: Mutation, given: PolicyVariables, at: string, report: Report): void {
  const { patchType } = mutation
  const patch = PATCHES[patchType]
  if (patchType === '') return required(report, `${at}.patchType`)
  if (patch === undefined) return notSupported(report, `${at}.patchType`, patchType, Object.keys(PATCHES))
  const { field, of } = patch
  const expression = mutation[field]?.expression?.trim()
  if (mutation[field] === undefined) {
    required(report, `${at}.${field}`, `must be specified when patchType is ${patchType}`)
  } else if (expression === undefined || expression === '') required(report, `${at}.${field}.expression`)
  else compiled(policyEnvironment({ ...given, mutates: true }), expression, `${at}.${field}.expression`, report, [of])
  const other = field === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  if (mutation[other] !== undefined) {
    invalid(report, `${at}.${other}`, `{${other}}`, `must not be specified when patchType is ${patchType}`)
  }
}

export const validateMutatingBinding = (spec: MutatingAdmissionPolicyBindingSpec, report: Report): void => {
  validateCommonOfBinding(spec, report, OPERATIONS)
}
