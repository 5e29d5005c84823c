/** Whether a webhook whose rules match a request is called for it: by its selectors, then by its conditions. */
import type { AdmissionRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { conditionsHold } from '../policies/evaluation.js'
import { RequestVariables, type PolicyTools } from '../policies/variables.js'
import type { Invocation } from './hook-set.js'
import { isSelected } from './selectors.js'

/** @throws StatusError 403 for a condition that cannot be evaluated, unless the webhook's failures are ignored */
export async function isMeant (
  { hook, requested }: Invocation, request: AdmissionRequest, tools: PolicyTools,
  variables = new RequestVariables(request, tools)
): Promise<boolean> {
  if (!await isSelected(hook, request)) return false
  if (hook.conditions.length === 0) return true
  try {
    return await conditionsHold(hook.conditions, await variables.of({ requested, param: undefined }))
  } catch (error) {
    if (hook.ignoresFailure) return false
    throw refusal(request, `webhook ${hook.name}: ${(error as Error).message}`)
  }
}
