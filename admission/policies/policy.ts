/** Policies and bindings, compiled. */
import type { Environment, Program } from '../../expressions/program.js'
import type { MatchCondition } from '../../schemas/api/admissionregistration/match-condition.js'
import type { MatchResources, ParamKind, ParamRef, Variable } from '../../schemas/api/admissionregistration/policies.js'
import {
  addVariable, policyEnvironment, type OwnVariable, type PolicyVariables
} from '../../schemas/api/admissionregistration/policy-expressions.js'
import type {
  ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, Validation
} from '../../schemas/api/admissionregistration/validating-policies.js'
import type {
  MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding
} from '../../schemas/api/admissionregistration/v1beta1.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Steps } from '../../schemas/steps.js'
import { DYN } from '../../expressions/types.js'

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

/** What validating and mutating policies have alike. */
export interface Policy {
  readonly name: string
  readonly ignoresFailure: boolean
  readonly constraints: MatchResources
  readonly paramKind: ParamKind | undefined
  readonly conditions: readonly Named[]
  readonly variables: readonly Named[]
  /** Compiles what is missing of the variables, which other expressions need. */
  readonly compiling: () => Steps<void>
}

export interface ValidatingPolicy extends Policy {
  readonly validations: readonly CheckedValidation[]
  readonly annotations: readonly Named[]
}

export interface Mutation {
  /** It makes a configuration that is applied, otherwise a patch. */
  readonly applies: boolean
  readonly expression: string
  readonly program: Compiled
}

export interface MutatingPolicy extends Policy {
  readonly mutations: readonly Mutation[]
  readonly reinvoked: boolean
}

export interface Binding {
  readonly name: string
  readonly policy: string
  readonly paramRef: ParamRef | undefined
  /** Undefined for all that the policy is for. */
  readonly resources: MatchResources | undefined
}

export interface ValidatingBinding extends Binding { readonly actions: ReadonlySet<string> }

function compile (environment: Environment, expression: string): Compiled {
  try {
    return environment.compile(expression)
  } catch (error) {
    return error as Error // a Problem: the expression was valid for the release that stored it
  }
}

/** Compiled when it is first evaluated: all of a policy at once would take long. */
class Later {
  #program: Compiled | undefined

  constructor (readonly expression: string, private readonly environment: () => Environment) {}

  get program (): Compiled { return this.#program ??= compile(this.environment(), this.expression) }
}

class NamedLater extends Later implements Named {
  constructor (readonly name: string, expression: string, environment: () => Environment) {
    super(expression.trim(), environment)
  }
}

class ValidationLater extends Later implements CheckedValidation {
  readonly message: string
  readonly reason: string
  readonly #message: Later | undefined

  constructor (
    { expression, message = '', messageExpression = '', reason = '' }: Validation, environment: () => Environment,
    ofMessages: () => Environment
  ) {
    super(expression.trim(), environment)
    this.message = message.trim()
    this.reason = reason === '' ? 'Invalid' : reason
    this.#message = messageExpression === '' ? undefined : new Later(messageExpression, ofMessages)
  }

  get messageProgram (): Compiled | undefined { return this.#message?.program }
}

class MutationLater extends Later implements Mutation {
  constructor (readonly applies: boolean, expression: string, environment: () => Environment) {
    super(expression, environment)
  }
}

export const conditionsOf = (conditions: readonly MatchCondition[], environment: Environment): Named[] =>
  conditions.map(({ name, expression }) => new NamedLater(name, expression, () => environment))

/** Variables, compiled in order, as later ones see earlier ones, and when one is first needed: thousands take long. */
class Variables {
  readonly types = new Map<string, OwnVariable>()
  readonly named: Named[]
  #compiled = 0

  constructor (private readonly variables: readonly Variable[], private readonly params: boolean) {
    this.named = variables.map(({ name }) => ({ name, program: NOT_COMPILED }))
  }

  /** Several may go on with it by turns. */
  * compiling (): Steps<void> {
    while (this.#compiled < this.variables.length) {
      const at = this.#compiled++
      const { name, expression } = this.variables[at] as Variable // within bounds
      const program = compile(
        policyEnvironment({ params: this.params, authorizer: true, variables: this.types }), expression
      )
      this.named[at] = { name, program }
      addVariable(this.types, name, program instanceof Error ? DYN : program.type)
      yield
    }
  }
}

const NOT_COMPILED = new Error('it is not compiled')

/** When all variables are known. */
function once (make: () => Environment): () => Environment {
  let environment: Environment | undefined
  return () => environment ??= make()
}

/** @returns it, and what its other expressions may read */
function common (
  { metadata, spec = {} }: ValidatingAdmissionPolicy | MutatingAdmissionPolicy
): { policy: Policy, given: PolicyVariables } {
  const { paramKind, matchConditions = [], variables = [] } = spec
  const params = paramKind !== undefined
  const declared = new Variables(variables, params)
  return {
    policy: {
      name: metadata.name ?? '',
      ignoresFailure: spec.failurePolicy === 'Ignore',
      constraints: spec.matchConstraints ?? {},
      paramKind,
      conditions: conditionsOf(matchConditions, policyEnvironment({ params, authorizer: true })),
      variables: declared.named,
      compiling: () => declared.compiling()
    },
    given: { params, authorizer: true, variables: declared.types }
  }
}

export function validatingPolicyOf (object: ApiObject): ValidatingPolicy {
  const whole = object as ValidatingAdmissionPolicy
  const { policy, given } = common(whole)
  const { validations = [], auditAnnotations = [] } = whole.spec ?? {}
  const environment = once(() => policyEnvironment(given))
  const ofMessages = once(() => policyEnvironment({ ...given, authorizer: false }))
  return {
    ...policy,
    validations: validations.map(validation => new ValidationLater(validation, environment, ofMessages)),
    annotations: auditAnnotations.map(({ key, valueExpression }) => new NamedLater(key, valueExpression, environment))
  }
}

export function mutatingPolicyOf (object: ApiObject): MutatingPolicy {
  const whole = object as MutatingAdmissionPolicy
  const { policy, given } = common(whole)
  const { mutations = [], reinvocationPolicy } = whole.spec
  const environment = once(() => policyEnvironment({ ...given, mutates: true }))
  return {
    ...policy,
    mutations: mutations.map(({ patchType, applyConfiguration, jsonPatch }) => {
      const applies = patchType === 'ApplyConfiguration'
      const { expression = '' } = (applies ? applyConfiguration : jsonPatch) ?? {}
      return new MutationLater(applies, expression, environment)
    }),
    reinvoked: reinvocationPolicy === 'IfNeeded'
  }
}

export function bindingOf (object: ApiObject): Binding {
  // Both kinds share these fields.
  const { metadata, spec: { policyName = '', paramRef, matchResources } } = object as MutatingAdmissionPolicyBinding
  return { name: metadata.name ?? '', policy: policyName, paramRef, resources: matchResources }
}

export const validatingBindingOf = (object: ApiObject): ValidatingBinding => ({
  ...bindingOf(object), actions: new Set((object as ValidatingAdmissionPolicyBinding).spec.validationActions)
})
