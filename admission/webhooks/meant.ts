/** Whether a webhook whose rules match a request is called for it: by its selectors, then by its conditions. */
import type { AdmissionRequest } from '../../registry/admission.js'
import { runStepsWithinBudget } from '../../event-loop/turns.js'
import { refusal } from '../refusal.js'
import { conditionsHold } from '../policies/evaluation.js'
import { RequestVariables, type PolicyTools } from '../policies/variables.js'
import type { Invocation } from './hook-set.js'
import { unconverted } from './refusals.js'
import { isSelected } from './selectors.js'

interface Asking {
  readonly tools: PolicyTools
  readonly type: 'admit' | 'validating'
  /** Of the request, if others read them too. */
  readonly variables?: RequestVariables
}

/**
 * @throws StatusError 403 for a condition that cannot be evaluated, unless the webhook's failures are ignored; 500 for
 * an object that cannot be converted
 */
export async function isMeant (
  { hook, requested }: Invocation, request: AdmissionRequest,
  { tools, type, variables = new RequestVariables(request, tools) }: Asking
): Promise<boolean> {
  if (!await isSelected(hook, request)) return false
  if (hook.conditions.length === 0) return true
  const preparing = variables.prepare(requested)
  if (preparing !== undefined) await preparing.catch(unconverted)
  try {
    const of = { name: hook.name, kind: 'webhook', type, operation: request.operation } as const
    const values = await variables.of({ requested, param: undefined })
    return await runStepsWithinBudget(conditionsHold(hook.conditions, values, of, tools.observePolicies))
  } catch (error) {
    if (hook.ignoresFailure) return false
    throw refusal(request, `webhook ${hook.name}: ${(error as Error).message}`)
  }
}
