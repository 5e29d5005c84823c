/** Validation of PodDisruptionBudgets. */
import { checkAtMostAll, checkIntOrPercent } from '../../../rules/int-or-percent.js'
import type { Report } from '../../../language/types.js'
import type { LabelSelector } from '../../../meta/options.js'
import { validateConditions } from '../../../rules/conditions.js'
import { invalid, notNegative } from '../../../rules/findings.js'
import { validateLabelSelector } from '../../../selectors/objects.js'
import type { PodDisruptionBudget } from '../v1.js'

interface Spec {
  readonly minAvailable?: number | string | undefined, readonly maxUnavailable?: number | string | undefined,
  readonly selector?: LabelSelector | undefined
}

export function validateBudget (spec: Spec, at: string, report: Report): void {
  const { minAvailable, maxUnavailable, selector } = spec
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    invalid(report, at, spec, 'minAvailable and maxUnavailable cannot be both set')
  }
  for (const [field, value] of Object.entries({ minAvailable, maxUnavailable })) {
    checkIntOrPercent(report, `${at}.${field}`, value)
    checkAtMostAll(report, `${at}.${field}`, value)
  }
  if (selector !== undefined) validateLabelSelector(selector, `${at}.selector`, report)
}

/** For v1 only: v1beta1 never validated this. */
export function validateBudgetStatus ({ status }: PodDisruptionBudget, report: Report): void {
  for (const field of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const) {
    notNegative(report, `status.${field}`, status[field])
  }
}

export function validateBudgetConditions ({ status }: PodDisruptionBudget, report: Report): void {
  validateConditions(status.conditions ?? [], 'status.conditions', report)
}
