/**
 * ValidatingAdmissionPolicy: evaluates the policies that bindings bring into force, just before the validating
 * webhooks. What is refused is denied, warned about or noted in the audit event, as the binding says. @see the public
 * project's policies of 1.36
 */
import { StatusError, type StatusReason } from '../../schemas/status.js'
import type { AdmissionPlugin, AdmissionRequest } from '../../registry/admission.js'
import { FollowedObjects } from '../followed-objects.js'
import { refusal } from '../refusal.js'
import { annotationsOf, conditionsHold, failuresOf, type Failure } from './evaluation.js'
import { isExempt, Matching } from './matching.js'
import { parametersOf } from './parameters.js'
import { bindingOf, policyOf, type Binding, type Policy } from './policy.js'
import type { RequestedKind } from '../webhooks/hook-set.js'
import { RequestVariables, type PolicyTools } from './variables.js'

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, RequestEntityTooLarge: 413, Unauthorized: 401 }
const UNPROCESSABLE = 422
const FAILURES = 'validation.policy.admission.orch.io/validation_failure'

interface Decision { readonly policy: Policy, readonly binding: Binding, readonly failure: Failure }

export function validatingPolicies (tools: PolicyTools): AdmissionPlugin {
  const policies = new FollowedObjects(tools.resources, 'validatingadmissionpolicies', {
    one: policyOf, all: all => new Map(all.map(policy => [policy.name, policy])), none: new Map<string, Policy>()
  })
  const bindings = new FollowedObjects<Binding, readonly Binding[]>(
    tools.resources, 'validatingadmissionpolicybindings', { one: bindingOf, all: all => all, none: [] }
  )

  const validate = async (
    request: AdmissionRequest, known: ReadonlyMap<string, Policy>, all: readonly Binding[]
  ): Promise<void> => {
    const run = new Run(request, tools)
    for (const binding of all) {
      const policy = known.get(binding.policy)
      if (policy !== undefined) await run.bound(policy, binding)
    }
    run.finish()
  }

  return {
    name: 'ValidatingAdmissionPolicy',
    handles: request => {
      bindings.follow()
      policies.follow()
      return !isExempt(request)
    },
    validate: request => {
      const all = bindings.current()
      if (!(all instanceof Promise) && all.length === 0) return undefined
      const known = policies.current()
      if (all instanceof Promise || known instanceof Promise) {
        return Promise.all([known, all]).then(([them, these]) => validate(request, them, these))
      }
      return known.size === 0 ? undefined : validate(request, known, all)
    }
  }
}

/** One request through all bindings. */
class Run {
  readonly #request: AdmissionRequest
  readonly #tools: PolicyTools
  readonly #matching: Matching
  readonly #variables: RequestVariables
  readonly #matched = new Map<Policy, Promise<RequestedKind | undefined>>()
  readonly #denials: Decision[] = []
  readonly #audited: Decision[] = []
  readonly #annotations = new Map<string, Set<string>>()

  constructor (request: AdmissionRequest, tools: PolicyTools) {
    this.#request = request
    this.#tools = tools
    this.#matching = new Matching(request, tools.resources)
    this.#variables = new RequestVariables(request, tools)
  }

  async bound (policy: Policy, binding: Binding): Promise<void> {
    const requested = await this.#requestedBy(policy, binding)
    if (requested === undefined) return
    let params: readonly unknown[]
    try {
      params = await parametersOf(policy, binding, this.#request, this.#tools)
    } catch (error) {
      return this.#misconfigured(policy, binding, `failed to configure binding: ${(error as Error).message}`)
    }
    const values = await this.#variables.of(requested)
    for (const param of params) {
      await this.#evaluated(policy, binding, policy.paramKind === undefined ? values : { ...values, params: param })
    }
  }

  /** Undefined unless policy and binding are for the request. */
  async #requestedBy (policy: Policy, { resources }: Binding): Promise<RequestedKind | undefined> {
    let matched = this.#matched.get(policy)
    if (matched === undefined) this.#matched.set(policy, matched = this.#matching.of(policy.constraints))
    const requested = await matched
    if (requested === undefined || resources === undefined) return requested
    return await this.#matching.of(resources) === undefined ? undefined : requested
  }

  async #evaluated (policy: Policy, binding: Binding, values: Readonly<Record<string, unknown>>): Promise<void> {
    try {
      if (!await conditionsHold(policy.conditions, values)) return
    } catch (error) {
      this.#decide(policy, binding, failed((error as Error).message))
      return
    }
    for (const failure of await failuresOf(policy, values)) this.#decide(policy, binding, failure)
    try {
      for (const [key, value] of await annotationsOf(policy, values)) {
        const name = `${policy.name}/${key}`
        const joined = this.#annotations.get(name) ?? new Set()
        this.#annotations.set(name, joined.add(value))
      }
    } catch (error) {
      this.#misconfigured(policy, binding, (error as Error).message)
    }
  }

  /** Denies whatever the binding's actions, unless the policy ignores failures. */
  #misconfigured (policy: Policy, binding: Binding, message: string): void {
    if (!policy.ignoresFailure) this.#denials.push({ policy, binding, failure: failed(message) })
  }

  #decide (policy: Policy, binding: Binding, failure: Failure): void {
    if (failure.isError && policy.ignoresFailure) return
    const decision = { policy, binding, failure }
    if (binding.actions.has('Deny')) this.#denials.push(decision)
    if (binding.actions.has('Audit')) this.#audited.push(decision)
    if (binding.actions.has('Warn')) {
      this.#request.warn(
        `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ` +
          failure.message
      )
    }
  }

  /** @throws StatusError of the first denial */
  finish (): void {
    const [audited] = this.#audited
    if (audited !== undefined) {
      const { policy, binding, failure: { message, index = 0 } } = audited
      this.#request.annotate(FAILURES, JSON.stringify([{
        message, policy: policy.name, binding: binding.name, expressionIndex: index,
        validationActions: [...binding.actions]
      }]))
    }
    for (const [name, values] of this.#annotations) this.#request.annotate(name, [...values].join(', '))
    const [denied] = this.#denials
    if (denied !== undefined) throw denial(this.#request, denied)
  }
}

const failed = (message: string): Failure => ({ index: undefined, message, reason: 'Invalid', isError: true })

function denial (request: AdmissionRequest, { policy, binding, failure }: Decision): StatusError {
  const said = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}' denied request: ` +
    failure.message
  const { message, details } = refusal(request, said).status
  return new StatusError(failure.reason as StatusReason, message ?? said, {
    code: CODES[failure.reason] ?? UNPROCESSABLE, details: { ...details, causes: [{ message: said }] }
  })
}
