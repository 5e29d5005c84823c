/** MutatingAdmissionPolicy and its binding, for both versions. */
import { list, one, string, apiPackage } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import * as conditions from './match-condition.js'
import * as policies from './policies.js'
import { validateMutatingBinding } from './rules/mutating-policies.js'

/** The messages of one version. */
export function declare (version: 'v1' | 'v1beta1') {
  const { kind, message } = apiPackage(
    'admissionregistration.orch.io', version, `io.orch.api.admissionregistration.${version}`
  )
  const { MatchCondition, ...shared } = version === 'v1'
    ? { MatchCondition: conditions.MatchCondition, ...policies }
    : { MatchCondition: conditions.declare(version), ...policies.declare(version) }
  const { ParamKind, ParamRef, MatchResources, NamedRuleWithOperations, Variable } = shared

  const ApplyConfiguration = message('ApplyConfiguration', 'What is merged into an object.', {
    expression: string(1, 'An expression that makes it, as Object{...}: server-side apply merges it.')
  })

  const JSONPatch = message('JSONPatch', 'A patch of an object.', {
    expression: string(1, 'An expression that makes its operations, as [JSONPatch{...}].')
  })

  const Mutation = message('Mutation', 'A change of an object.', {
    patchType: string(2, 'How it is changed: ApplyConfiguration or JSONPatch.', {
      required: true, ruled: true, values: ['ApplyConfiguration', 'JSONPatch'], closed: 'ruled', discriminator: true
    }),
    applyConfiguration: one(3, 'What is merged, for ApplyConfiguration.', ApplyConfiguration, { pointer: true }),
    jsonPatch: one(4, 'The patch, for JSONPatch.', JSONPatch, { pointer: true })
  })

  const MutatingAdmissionPolicySpec = message('MutatingAdmissionPolicySpec', 'What a policy changes.', {
    paramKind: one(1, 'Kind of its parameters; without it there are none.', ParamKind, { pointer: true }),
    matchConstraints: one(2, 'Requests that it is for.', MatchResources, { pointer: true }),
    variables: list(3, 'Expressions with names.', Variable, { listType: 'atomic' }),
    mutations: list(4, 'Changes, in order; each sees the object as the one before left it.', Mutation, {
      listType: 'atomic'
    }),
    failurePolicy: string(5, 'What an error means, Ignore or Fail; by default Fail.', {
      pointer: true, values: ['Ignore', 'Fail'], default: 'Fail', ...policies.closedIn(version)
    }),
    matchConditions: list(6, 'Expressions that must all be true of requests that it is for.', MatchCondition, {
      listType: 'map', listMapKeys: ['name'], patchStrategy: 'merge', patchMergeKey: 'name'
    }),
    reinvocationPolicy: string(7, 'Whether it changes an object again that changed after it: Never or IfNeeded.', {
      values: ['Never', 'IfNeeded'], closed: 'ruled'
    })
  })

  const MutatingAdmissionPolicy = kind('MutatingAdmissionPolicy', 'How objects are changed before they are stored.', {
    metadata,
    spec: one(2, 'What the policy changes.', MutatingAdmissionPolicySpec)
  })

  const MutatingAdmissionPolicyBindingSpec =
    message('MutatingAdmissionPolicyBindingSpec', 'Where a policy holds.', {
      policyName: string(1, 'Name of the policy.'),
      paramRef: one(2, 'Parameters of the policy.', ParamRef, { pointer: true }),
      matchResources: one(3, 'Requests that it holds for, among those of the policy; by default all.', MatchResources, {
        pointer: true
      })
    })

  const MutatingAdmissionPolicyBinding =
    kind('MutatingAdmissionPolicyBinding', 'Where a mutating policy holds.', {
      metadata,
      spec: one(2, 'Where the policy holds.', MutatingAdmissionPolicyBindingSpec)
    }, { validate: ({ spec }, _at, report) => { validateMutatingBinding(spec, report) } })

  return {
    MatchCondition, ParamKind, ParamRef, MatchResources, NamedRuleWithOperations, Variable, ApplyConfiguration,
    JSONPatch, Mutation, MutatingAdmissionPolicySpec, MutatingAdmissionPolicy, MutatingAdmissionPolicyBindingSpec,
    MutatingAdmissionPolicyBinding
  }
}
