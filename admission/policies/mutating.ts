/**
 * MutatingAdmissionPolicy: the policies that bindings bring into force change objects, just before the mutating
 * webhooks. After a change by a policy or webhook those of reinvocationPolicy IfNeeded run once more. @see the public
 * project's policies of 1.36
 */
import { runStepsWithinBudget } from '../../event-loop/turns.js'
import { oncePer } from '../../schemas/once-per.js'
import { isStatusError, StatusError, type StatusReason } from '../../schemas/status.js'
import type { AdmissionPlugin, AdmissionRequest, Pass } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { BoundPolicies, invocationsOf, type Bound, type Invocation } from './bound.js'
import { conditionsHold, EvaluationError, madeBy } from './evaluation.js'
import { unconverted } from '../webhooks/refusals.js'
import { isExempt } from './matching.js'
import { mutate, type Change } from './mutations.js'
import type { CheckError } from './observer.js'
import { bindingOf, mutatingPolicyOf, type Binding, type MutatingPolicy } from './policy.js'
import { RequestVariables, type PolicyTools } from './variables.js'

type BoundPolicy = Bound<MutatingPolicy, Binding>
type BoundInvocation = Invocation<MutatingPolicy, Binding>

const FORBIDDEN = 403

/** State of a request over both rounds. */
interface Progress {
  /** Policies that may be invoked again, as keys, and those that are to be. */
  readonly invoked: Set<string>
  readonly again: Set<string>
  /** The object after the first round. */
  left: string | undefined
}

interface Failure { readonly message: string, readonly reason: StatusReason }

export function mutatingPolicies (tools: PolicyTools): AdmissionPlugin {
  const policies = new BoundPolicies(tools, {
    plurals: ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'], policyOf: mutatingPolicyOf, bindingOf
  })
  const progressOf = oncePer((_pass: Pass): Progress => ({ invoked: new Set(), again: new Set(), left: undefined }))
  const run = (request: AdmissionRequest, pass: Pass, all: readonly BoundPolicy[]): Promise<void> =>
    new Round(request, tools, pass).run(all, progressOf(pass))
  return {
    name: 'MutatingAdmissionPolicy',
    handles: request => {
      policies.follow()
      return request.object !== undefined && !isExempt(request)
    },
    mutate: (request, pass) => {
      const all = policies.current()
      if (all instanceof Promise) return all.then(those => run(request, pass, those))
      return all.length === 0 ? undefined : run(request, pass, all)
    }
  }
}

/** One round of all policies over a request. */
class Round {
  readonly #request: AdmissionRequest
  readonly #pass: Pass
  readonly #tools: PolicyTools
  readonly #variables: RequestVariables
  readonly #failures: Failure[] = []
  #isChanged = false
  /** Once for all, as it compares whole objects. */
  #done: (() => void) | undefined

  constructor (request: AdmissionRequest, tools: PolicyTools, pass: Pass) {
    this.#request = request
    this.#pass = pass
    this.#tools = tools
    this.#variables = new RequestVariables(request, tools)
  }

  async run (all: readonly BoundPolicy[], progress: Progress): Promise<void> {
    const [request, pass] = [this.#request, this.#pass]
    const of = { tools: this.#tools, variables: this.#variables }
    const invocations = await runStepsWithinBudget(invocationsOf(all, request, of, (policy, binding, why) => {
      this.#fail(policy, binding, why, 'Forbidden')
    }))
    const mayRepeat = invocations.some(({ policy }) => policy.reinvoked)
    const left = (): string => mayRepeat ? this.#variables.text(request.requested) : ''
    if (progress.left !== undefined && progress.left !== left()) repeat(progress)
    for (const invocation of invocations) {
      const { policy } = invocation
      const key = keyOf(invocation)
      const preparing = this.#variables.prepare(invocation.requested) // others may have changed the object
      if (preparing !== undefined) await preparing.catch(unconverted)
      if (!await this.#isMeant(invocation)) continue
      if (pass.round === 1 && !progress.again.has(key)) continue
      for (const mutation of policy.mutations) await this.#mutate(invocation, mutation)
      if (policy.reinvoked) progress.invoked.add(key)
    }
    if (this.#isChanged) {
      this.#done?.()
      repeat(progress)
      pass.again()
    }
    progress.left = left()
    const [first] = this.#failures
    if (first !== undefined) throw denial(request, first, this.#failures)
  }

  #fail (policy: MutatingPolicy, binding: Binding, why: string, reason: StatusReason): void {
    if (policy.ignoresFailure) return
    const message = `policy '${policy.name}' with binding '${binding.name}' denied request: ${why}`
    this.#failures.push({ message, reason })
  }

  /** Whether the conditions of the policy hold. */
  async #isMeant (invocation: BoundInvocation): Promise<boolean> {
    const { policy, binding } = invocation
    const of = { name: policy.name, kind: 'policy', type: 'validate', operation: this.#request.operation } as const
    try {
      const values = await this.#variables.of(invocation)
      return await runStepsWithinBudget(
        conditionsHold(policy.conditions, values, of, this.#tools.observePolicies)
      )
    } catch (error) {
      this.#fail(policy, binding, (error as Error).message, 'Invalid')
      return false
    }
  }

  async #mutate (invocation: BoundInvocation, mutation: MutatingPolicy['mutations'][number]): Promise<void> {
    const { policy, binding, requested } = invocation
    const { object = {} } = this.#request // it has one
    const since = performance.now()
    const observe = (error: CheckError): void => {
      const of = { policy: policy.name, binding: binding.name }
      this.#tools.observePolicies?.mutated(of, error, (performance.now() - since) / 1000)
    }
    try {
      const made = await runStepsWithinBudget(madeBy(mutation, policy, await this.#variables.of(invocation)))
      this.#done ??= this.#pass.beforeForeign(object)
      const change: Change = { made, names: this.#tools.names, isChanged: this.#isChanged }
      if (await mutate(mutation, object, this.#variables.version(requested), change)) this.#isChanged = true
      this.#variables.forget()
      observe('no_error')
    } catch (error) {
      observe(error instanceof EvaluationError ? error.kind : 'invalid_error')
      if (isStatusError(error)) throw error
      this.#fail(policy, binding, (error as Error).message, 'Invalid')
    }
  }
}

function repeat ({ invoked, again }: Progress): void {
  for (const key of invoked) again.add(key)
}

function keyOf ({ policy, binding, param }: BoundInvocation): string {
  const { metadata } = (param ?? {}) as { readonly metadata?: { readonly namespace?: string, readonly name?: string } }
  return JSON.stringify([policy.name, binding.name, metadata?.namespace, metadata?.name])
}

function denial (request: AdmissionRequest, { message, reason }: Failure, all: readonly Failure[]): StatusError {
  const causes = all.map(({ message }) => ({ message }))
  const { details } = refusal(request, message).status
  return new StatusError(reason, message, { code: FORBIDDEN, details: { ...details, causes } })
}
