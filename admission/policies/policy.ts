/** A compiled policy and a compiled binding. */
import type { Environment, Program } from '../../expressions/program.js'
import type { MatchCondition } from '../../schemas/api/admissionregistration/match-condition.js'
import type { MatchResources, ParamKind, ParamRef, Variable } from '../../schemas/api/admissionregistration/policies.js'
import { policyEnvironment } from '../../schemas/api/admissionregistration/policy-expressions.js'
import type {
  ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding
} from '../../schemas/api/admissionregistration/validating-policies.js'
import type { ApiObject } from '../../schemas/resource.js'
import type { Type } from '../../expressions/types.js'

/** A program, or why it cannot be made, which counts as an error of its evaluation. */
export type Compiled = Program | Error

export interface Named { readonly name: string, readonly program: Compiled }

export interface CheckedValidation {
  readonly expression: string
  readonly program: Compiled
  readonly message: string
  readonly messageProgram: Compiled | undefined
  readonly reason: string
}

export interface Policy {
  readonly name: string
  readonly ignoresFailure: boolean
  readonly constraints: MatchResources
  readonly paramKind: ParamKind | undefined
  readonly conditions: readonly Named[]
  readonly variables: readonly Named[]
  readonly validations: readonly CheckedValidation[]
  readonly annotations: readonly Named[]
}

export interface Binding {
  readonly name: string
  readonly policy: string
  readonly paramRef: ParamRef | undefined
  /** Undefined for all that the policy is for. */
  readonly resources: MatchResources | undefined
  readonly actions: ReadonlySet<string>
}

function compile (environment: Environment, expression: string): Compiled {
  try {
    return environment.compile(expression)
  } catch (error) {
    return error as Error // a Problem: the expression was valid for the release that stored it
  }
}

export const conditionsOf = (conditions: readonly MatchCondition[], environment: Environment): Named[] =>
  conditions.map(({ name, expression }) => ({ name, program: compile(environment, expression) }))

/** Compiles variables in order: later ones see earlier ones. */
function variablesOf (variables: readonly Variable[], params: boolean): { named: Named[], types: Map<string, Type> } {
  const [named, types]: [Named[], Map<string, Type>] = [[], new Map()]
  for (const { name, expression } of variables) {
    const program = compile(policyEnvironment({ params, authorizer: true, variables: new Map(types) }), expression)
    named.push({ name, program })
    types.set(name, program instanceof Error ? { kind: 'dyn' } : program.type)
  }
  return { named, types }
}

export function policyOf (object: ApiObject): Policy {
  const { metadata, spec = {} } = object as ValidatingAdmissionPolicy
  const { paramKind, matchConditions = [], variables = [], validations = [], auditAnnotations = [] } = spec
  const params = paramKind !== undefined
  const { named, types } = variablesOf(variables, params)
  const environment = policyEnvironment({ params, authorizer: true, variables: types })
  const ofMessages = policyEnvironment({ params, authorizer: false, variables: types })
  return {
    name: metadata.name ?? '',
    ignoresFailure: spec.failurePolicy === 'Ignore',
    constraints: spec.matchConstraints ?? {},
    paramKind,
    conditions: conditionsOf(matchConditions, policyEnvironment({ params, authorizer: true })),
    variables: named,
    validations: validations.map(({ expression, message = '', messageExpression = '', reason = '' }) => ({
      expression: expression.trim(), program: compile(environment, expression), message: message.trim(),
      messageProgram: messageExpression === '' ? undefined : compile(ofMessages, messageExpression),
      reason: reason === '' ? 'Invalid' : reason
    })),
    annotations: auditAnnotations.map(({ key, valueExpression }) =>
      ({ name: key, program: compile(environment, valueExpression) }))
  }
}

export function bindingOf (object: ApiObject): Binding {
  const { metadata, spec } = object as ValidatingAdmissionPolicyBinding
  return {
    name: metadata.name ?? '', policy: spec.policyName, paramRef: spec.paramRef, resources: spec.matchResources,
    actions: new Set(spec.validationActions)
  }
}
