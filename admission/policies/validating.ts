/**
 * ValidatingAdmissionPolicy: evaluates the policies that bindings bring into force, just before the validating
 * webhooks. What is refused is denied, warned about or noted in the audit event, as the binding says. @see the public
 * project's policies of 1.36
 */
import { runStepsWithinBudget } from '../../event-loop/turns.js'
import { waitFor, type WaitingSteps } from '../../schemas/steps.js'
import { StatusError, type StatusReason } from '../../schemas/status.js'
import type { AdmissionPlugin, AdmissionRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { BoundPolicies, invocationsOf, type Bound, type Invocation } from './bound.js'
import { annotationsOf, conditionsHold, failuresOf, type Failure } from './evaluation.js'
import { isExempt } from './matching.js'
import type { PolicyObserver } from './observer.js'
import { validatingBindingOf, validatingPolicyOf, type ValidatingBinding, type ValidatingPolicy } from './policy.js'
import { RequestVariables, type PolicyTools, type Values } from './variables.js'

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, RequestEntityTooLarge: 413, Unauthorized: 401 }
const UNPROCESSABLE = 422
const FAILURES = 'validation.policy.admission.orch.io/validation_failure'

interface Decision { readonly policy: ValidatingPolicy, readonly binding: ValidatingBinding, readonly failure: Failure }

export function validatingPolicies (tools: PolicyTools): AdmissionPlugin {
  const policies = new BoundPolicies(tools, {
    plurals: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    policyOf: validatingPolicyOf,
    bindingOf: validatingBindingOf
  })
  /** In steps, as promises cost more than evaluating most expressions. */
  const steps = function * (
    request: AdmissionRequest, all: ReadonlyArray<Bound<ValidatingPolicy, ValidatingBinding>>
  ): WaitingSteps<void> {
    const run = new Run(request, tools.observePolicies)
    const variables = new RequestVariables(request, tools)
    const invocations = yield * invocationsOf(all, request, { tools, variables }, (policy, binding, message) => {
      run.misconfigured(policy, binding, message)
    })
    for (const invocation of invocations) yield * run.invoke(invocation, yield * waitFor(variables.of(invocation)))
    run.finish()
  }

  return {
    name: 'ValidatingAdmissionPolicy',
    handles: request => {
      policies.follow()
      return !isExempt(request)
    },
    validate: request => {
      const all = policies.current()
      if (all instanceof Promise) return all.then(those => runStepsWithinBudget(steps(request, those)))
      return all.length === 0 ? undefined : runStepsWithinBudget(steps(request, all))
    }
  }
}

/** The decisions on one request. */
class Run {
  readonly #request: AdmissionRequest
  readonly #observer: PolicyObserver | undefined
  readonly #denials: Decision[] = []
  readonly #audited: Decision[] = []
  readonly #annotations = new Map<string, Set<string>>()

  constructor (request: AdmissionRequest, observer: PolicyObserver | undefined) {
    this.#request = request
    this.#observer = observer
  }

  * invoke (
    { policy, binding }: Invocation<ValidatingPolicy, ValidatingBinding>, values: Values
  ): WaitingSteps<void> {
    try {
      const of = { name: policy.name, kind: 'policy', type: 'validate', operation: this.#request.operation } as const
      if (!(yield * conditionsHold(policy.conditions, values, of, this.#observer))) return
    } catch (error) {
      this.#decide(policy, binding, failed((error as Error).message))
      return
    }
    for (const failure of yield * failuresOf(policy, values)) this.#decide(policy, binding, failure)
    try {
      for (const [key, value] of yield * annotationsOf(policy, values)) {
        const name = `${policy.name}/${key}`
        const joined = this.#annotations.get(name) ?? new Set()
        this.#annotations.set(name, joined.add(value))
      }
    } catch (error) {
      this.misconfigured(policy, binding, (error as Error).message)
    }
  }

  /** Denies whatever the binding's actions, unless the policy ignores failures. */
  misconfigured (policy: ValidatingPolicy, binding: ValidatingBinding, message: string): void {
    if (!policy.ignoresFailure) this.#denials.push({ policy, binding, failure: failed(message) })
  }

  #decide (policy: ValidatingPolicy, binding: ValidatingBinding, failure: Failure): void {
    const of = { policy: policy.name, binding: binding.name }
    const { error, seconds, message } = failure
    if (error !== 'no_error' && policy.ignoresFailure) return this.#observer?.validated(of, error, 'allow', seconds)
    const decision = { policy, binding, failure }
    if (binding.actions.has('Deny')) {
      this.#denials.push(decision)
      this.#observer?.validated(of, error, 'deny', seconds)
    }
    if (binding.actions.has('Audit')) {
      this.#audited.push(decision)
      this.#observer?.validated(of, error, 'audit', seconds)
    }
    if (binding.actions.has('Warn')) {
      this.#request.warn(
        `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`
      )
      this.#observer?.validated(of, error, 'warn', seconds)
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

const failed = (message: string): Failure =>
  ({ index: undefined, message, reason: 'Invalid', error: 'invalid_error', seconds: 0 })

function denial (request: AdmissionRequest, { policy, binding, failure }: Decision): StatusError {
  const said = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}' denied request: ` +
    failure.message
  const { message, details } = refusal(request, said).status
  return new StatusError(failure.reason as StatusReason, message ?? said, {
    code: CODES[failure.reason] ?? UNPROCESSABLE, details: { ...details, causes: [{ message: said }] }
  })
}
