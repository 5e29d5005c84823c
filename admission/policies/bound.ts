/** The policies of a kind that bindings bring into force, and what of them a request is for. */
import type { RequestedKind } from '../webhooks/hook-set.js'
import { FollowedObjects } from '../followed-objects.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import { waitFor, type WaitingSteps } from '../../schemas/steps.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { Matching } from './matching.js'
import { parametersOf } from './parameters.js'
import type { Binding, Policy } from './policy.js'
import type { PolicyTools, RequestVariables } from './variables.js'

export interface Bound<P, B> { readonly policy: P, readonly bindings: readonly B[] }

interface Kind<P, B> {
  /** Of policies, and of bindings. */
  readonly plurals: readonly [string, string]
  readonly policyOf: (object: ApiObject) => P
  readonly bindingOf: (object: ApiObject) => B
}

/** Policies with their bindings, both in the order of their names. */
export class BoundPolicies<P extends Policy, B extends Binding> {
  readonly #policies: FollowedObjects<P, readonly P[]>
  readonly #bindings: FollowedObjects<B, readonly B[]>
  #of: readonly [policies: readonly P[], bindings: readonly B[]] | undefined
  #bound: ReadonlyArray<Bound<P, B>> = []

  constructor ({ resources }: PolicyTools, { plurals: [ofPolicies, ofBindings], policyOf, bindingOf }: Kind<P, B>) {
    this.#policies = new FollowedObjects(resources, ofPolicies, { one: policyOf, all: all => all, none: [] })
    this.#bindings = new FollowedObjects(resources, ofBindings, { one: bindingOf, all: all => all, none: [] })
  }

  /** Starts following: writes are acknowledged once they are effective here. */
  follow (): void {
    this.#policies.follow()
    this.#bindings.follow()
  }

  /** Those with bindings. @throws StorageError if they cannot be read */
  current (): ReadonlyArray<Bound<P, B>> | Promise<ReadonlyArray<Bound<P, B>>> {
    const [policies, bindings] = [this.#policies.current(), this.#bindings.current()]
    if (policies instanceof Promise || bindings instanceof Promise) {
      return Promise.all([policies, bindings]).then(() => this.current())
    }
    if (this.#of?.[0] === policies && this.#of[1] === bindings) return this.#bound
    this.#of = [policies, bindings]
    const byPolicy = new Map(policies.map((policy): [string, Bound<P, B> & { bindings: B[] }] =>
      [policy.name, { policy, bindings: [] }]))
    for (const binding of bindings) byPolicy.get(binding.policy)?.bindings.push(binding)
    return this.#bound = [...byPolicy.values()].filter(bound => bound.bindings.length > 0)
  }
}

export interface Invocation<P, B> {
  readonly policy: P
  readonly binding: B
  /** The version that the rules of the policy match. */
  readonly requested: RequestedKind
  /** Undefined for a policy without parameters, null for a binding without. */
  readonly param: unknown
}

/**
 * The policies that are for a request, once for each binding and parameter.
 * @param variables are prepared for the versions that rules match
 * @param misconfigured receives what is wrong with parameters, or that the object cannot be converted
 * @throws StatusError 404 if the namespace does not exist
 */
export function * invocationsOf<P extends Policy, B extends Binding> (
  all: ReadonlyArray<Bound<P, B>>, request: AdmissionRequest,
  { tools, variables }: { readonly tools: PolicyTools, readonly variables: RequestVariables },
  misconfigured: (policy: P, binding: B, message: string) => void
): WaitingSteps<Array<Invocation<P, B>>> {
  const matching = new Matching(request, tools.resources)
  const invocations: Array<Invocation<P, B>> = []
  for (const { policy, bindings } of all) {
    const requested = yield * waitFor(matching.of(policy.constraints))
    if (requested === undefined) continue
    for (const binding of bindings) {
      const { resources } = binding
      if (resources !== undefined && (yield * waitFor(matching.of(resources))) === undefined) continue
      const preparing = variables.prepare(requested)?.then(() => undefined, (error: Error) => error)
      const failure = preparing === undefined ? undefined : yield * waitFor(preparing)
      if (failure !== undefined) {
        const why = `failed to convert object version: ${failure.message}`
        misconfigured(policy, binding, `failed to configure binding: ${why}`)
        continue
      }
      if (policy.paramKind === undefined) {
        invocations.push({ policy, binding, requested, param: undefined })
        continue
      }
      // What a promise rejects with would end the steps.
      const params = yield * waitFor(parametersOf(policy, binding, request, tools).catch((error: Error) => error))
      if (params instanceof Error) {
        misconfigured(policy, binding, `failed to configure binding: ${params.message}`)
      } else for (const param of params) invocations.push({ policy, binding, requested, param })
    }
  }
  return invocations
}
