/** What validating and mutating admission policies have alike: which requests, which parameters, and variables. */
import { inline, list, one, string, apiPackage, type Static } from '../../language/declare.js'
import { LabelSelector } from '../../meta/options.js'
import { RuleWithOperations } from './webhooks.js'

/** The messages of one version. */
export function declare (version: 'v1' | 'v1beta1') {
  const { message } = apiPackage(
    'admissionregistration.orch.io', version, `io.orch.api.admissionregistration.${version}`
  )

  const ParamKind = message('ParamKind', 'The kind of a policy\'s parameters.', {
    apiVersion: string(1, 'API version of the parameters.'),
    kind: string(2, 'Kind of the parameters.')
  }, { structType: 'atomic' })

  const ParamRef = message('ParamRef', 'The parameters of a binding: one by name, or all by selector.', {
    name: string(1, 'Name of the parameter.'),
    namespace: string(2, 'Namespace of the parameters; by default that of the request.'),
    selector: one(3, 'Labels of the parameters; empty for all.', LabelSelector, { pointer: true }),
    parameterNotFoundAction: string(4, 'What it means that there are none: Allow or Deny.', {
      pointer: true, values: ['Allow', 'Deny']
    })
  }, { structType: 'atomic' })

  const NamedRuleWithOperations =
    message('NamedRuleWithOperations', 'Operations, resources and names of objects that a policy is for.', {
      resourceNames: list(1, 'Names of the objects; empty for all.', 'string', { listType: 'atomic' }),
      ruleWithOperations: inline(2, 'Operations and resources.', RuleWithOperations)
    }, { structType: 'atomic' })

  const MatchResources = message('MatchResources', 'Which requests a policy or a binding is for.', {
    namespaceSelector: one(1, 'Labels of the namespaces; by default all.', LabelSelector, {
      pointer: true, default: {}
    }),
    objectSelector: one(2, 'Labels of the objects; by default all.', LabelSelector, { pointer: true, default: {} }),
    resourceRules: list(3, 'Requests that it is for.', NamedRuleWithOperations, { listType: 'atomic' }),
    excludeResourceRules: list(
      4, 'Requests that it is not for, whatever the other rules say.', NamedRuleWithOperations, { listType: 'atomic' }
    ),
    matchPolicy: string(7, 'How rules match other versions, Exact or Equivalent; by default Equivalent.', {
      pointer: true, values: ['Exact', 'Equivalent'], default: 'Equivalent', ...closedIn(version)
    })
  }, { structType: 'atomic' })

  const Variable = message('Variable', 'An expression with a name, for the expressions behind it.', {
    name: string(1, 'Its name: variables.NAME.', { required: true, ruled: true, protoName: 'Name' }),
    expression: string(2, 'The expression, evaluated when it is first read.', {
      required: true, ruled: true, protoName: 'Expression'
    })
  }, { structType: 'atomic' })

  return { ParamKind, ParamRef, NamedRuleWithOperations, MatchResources, Variable }
}

/** OpenAPI has the values of some fields in v1 alone. */
export const closedIn = (version: 'v1' | 'v1beta1'): { readonly closed?: 'ruled' } =>
  version === 'v1' ? { closed: 'ruled' } : {}

export const { ParamKind, ParamRef, NamedRuleWithOperations, MatchResources, Variable } = declare('v1')

export type ParamKind = Static<typeof ParamKind>
export type ParamRef = Static<typeof ParamRef>
export type NamedRuleWithOperations = Static<typeof NamedRuleWithOperations>
export type MatchResources = Static<typeof MatchResources>
export type Variable = Static<typeof Variable>
