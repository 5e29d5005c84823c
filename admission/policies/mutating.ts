/**
 * MutatingAdmissionPolicy: the policies that bindings bring into force change objects, just before the mutating
 * webhooks. After a change by a policy or webhook those of reinvocationPolicy IfNeeded run once more. @see the public
 * project's policies of 1.36
 */
import { runStepsWithinBudget } from '../../event-loop/turns.js'
import { isStatusError, StatusError, type StatusReason } from '../../schemas/status.js'
import type { AdmissionPlugin, AdmissionRequest, Pass } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { BoundPolicies, invocationsOf, type Bound, type Invocation } from './bound.js'
import { conditionsHold, EvaluationError, madeBy } from './evaluation.js'
import { isExempt } from './matching.js'
import { mutate, type Change } from './mutations.js'
import type { CheckError } from './observer.js'
import { bindingOf, mutatingPolicyOf, type Binding, type MutatingPolicy } from './policy.js'
import { RequestVariables, type PolicyTools } from './variables.js'

const FORBIDDEN = 403

/** State of a request over both rounds. */
interface Progress {
  /** Policies that may be invoked again, as keys, and those that are to be. */
  readonly invoked: Set<string>
  readonly again: Set<string>
  /** The object after the first round. */
  left: string
}

interface Failure { readonly message: string, readonly reason: StatusReason }

export function mutatingPolicies (tools: PolicyTools): AdmissionPlugin {
  const policies = new BoundPolicies(tools, {
    plurals: ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'], policyOf: mutatingPolicyOf, bindingOf
  })
  const progress = new WeakMap<Pass, Progress>()

  const round = async (
    request: AdmissionRequest, pass: Pass, all: ReadonlyArray<Bound<MutatingPolicy, Binding>>
  ): Promise<void> => {
    const { object = {} } = request // it has one
    const failures: Failure[] = []
    const fail = (policy: MutatingPolicy, binding: Binding, why: string, reason: StatusReason): void => {
      if (policy.ignoresFailure) return
      const message = `policy '${policy.name}' with binding '${binding.name}' denied request: ${why}`
      failures.push({ message, reason })
    }
    const variables = new RequestVariables(request, tools)
    const invocations = await runStepsWithinBudget(invocationsOf(all, request, tools, (policy, binding, why) => {
      fail(policy, binding, why, 'Forbidden')
    }))
    const mayRepeat = invocations.some(({ policy }) => policy.reinvoked)
    const left = (): string => mayRepeat ? variables.text(request.requested) : ''
    let state = progress.get(pass)
    if (state === undefined) progress.set(pass, state = { invoked: new Set(), again: new Set(), left: '' })
    else if (state.left !== left()) repeat(state)

    let isChanged = false
    // Once for all, as it compares whole objects.
    let done: (() => void) | undefined
    for (const invocation of invocations) {
      const { policy, binding, requested } = invocation
      const key = keyOf(invocation)
      try {
        const of = { name: policy.name, kind: 'policy', type: 'validate', operation: request.operation } as const
        const values = await variables.of(invocation)
        const conditions = conditionsHold(policy.conditions, values, of, tools.observePolicies)
        if (!await runStepsWithinBudget(conditions)) continue
      } catch (error) {
        fail(policy, binding, (error as Error).message, 'Invalid')
        continue
      }
      if (pass.round === 1 && !state.again.has(key)) continue
      for (const mutation of policy.mutations) {
        const since = performance.now()
        const observe = (error: CheckError): void => {
          const of = { policy: policy.name, binding: binding.name }
          tools.observePolicies?.mutated(of, error, (performance.now() - since) / 1000)
        }
        try {
          const made = await runStepsWithinBudget(madeBy(mutation, policy, await variables.of(invocation)))
          done ??= request.trackOwnership?.()
          const change: Change = { made, naming: tools.naming, isChanged }
          if (await mutate(mutation, object, variables.version(requested), change)) isChanged = true
          variables.forget()
          observe('no_error')
        } catch (error) {
          observe(error instanceof EvaluationError ? error.kind : 'invalid_error')
          if (isStatusError(error)) throw error
          fail(policy, binding, (error as Error).message, 'Invalid')
        }
      }
      if (policy.reinvoked) state.invoked.add(key)
    }
    if (isChanged) {
      done?.()
      repeat(state)
      pass.again()
    }
    state.left = left()
    const [first] = failures
    if (first !== undefined) throw denial(request, first, failures)
  }

  return {
    name: 'MutatingAdmissionPolicy',
    handles: request => {
      policies.follow()
      return request.object !== undefined && !isExempt(request)
    },
    mutate: (request, pass) => {
      const all = policies.current()
      if (all instanceof Promise) return all.then(those => round(request, pass, those))
      return all.length === 0 ? undefined : round(request, pass, all)
    }
  }
}

function repeat ({ invoked, again }: Progress): void {
  for (const key of invoked) again.add(key)
}

function keyOf ({ policy, binding, param }: Invocation<MutatingPolicy, Binding>): string {
  const { metadata } = (param ?? {}) as { readonly metadata?: { readonly namespace?: string, readonly name?: string } }
  return JSON.stringify([policy.name, binding.name, metadata?.namespace, metadata?.name])
}

function denial (request: AdmissionRequest, { message, reason }: Failure, all: readonly Failure[]): StatusError {
  const causes = all.map(({ message }) => ({ message }))
  const { details } = refusal(request, message).status
  return new StatusError(reason, message, { code: FORBIDDEN, details: { ...details, causes } })
}
