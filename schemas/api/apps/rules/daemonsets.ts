/** Validation of DaemonSets. */
import { isOn } from '../../../gates.js'
import { PodTemplateSpec } from '../../core/pod-spec.js'
import { checkRunsOn, mismatch } from '../../core/rules/templates.js'
import { checkSharedDisks } from '../../core/rules/volumes.js'
import { checkCollisions, checkCounts, checkNotEmpty } from '../../core/rules/workloads.js'
import { invalid, notNegative, notSupported, required } from '../../../rules/findings.js'
import { checkAtMostAll, checkIntOrPercent, isZero } from '../../../rules/int-or-percent.js'
import type { Report } from '../../../language/declare.js'
import { validatePart } from '../../../language/validation.js'
import { selects, validateLabelSelector } from '../../../selectors/objects.js'
import type { DaemonSet, DaemonSetSpec, DaemonSetUpdateStrategy } from '../daemonsets.js'

export function validateDaemonSetSpec (spec: DaemonSetSpec, at: string, report: Report): void {
  const { selector, template, minReadySeconds, revisionHistoryLimit } = spec
  if (selector !== undefined) {
    validateLabelSelector(selector, `${at}.selector`, report)
    checkNotEmpty(selector, 'daemonset', `${at}.selector`, report)
  }
  if (selects(selector, template.metadata.labels) === false) mismatch(template, `${at}.template`, report)
  validatePart(PodTemplateSpec, template, `${at}.template`, report)
  checkSharedDisks(template.spec.volumes ?? [], `${at}.template.spec.volumes`, report)
  checkRunsOn(template, 'DaemonSet', `${at}.template`, report)
  notNegative(report, `${at}.minReadySeconds`, minReadySeconds)
  checkStrategy(spec.updateStrategy, `${at}.updateStrategy`, report)
  notNegative(report, `${at}.revisionHistoryLimit`, revisionHistoryLimit)
}

/** Of maxUnavailable and maxSurge, exactly one is above zero. */
function checkStrategy (strategy: DaemonSetUpdateStrategy, at: string, report: Report): void {
  const { type, rollingUpdate } = strategy
  if (type === 'OnDelete') return
  if (type !== 'RollingUpdate') return notSupported(report, at, strategy, ['RollingUpdate', 'OnDelete'])
  if (rollingUpdate === undefined) return required(report, `${at}.rollingUpdate`)
  const { maxUnavailable, maxSurge } = rollingUpdate
  for (const [field, value] of Object.entries({ maxUnavailable, maxSurge })) {
    checkIntOrPercent(report, `${at}.rollingUpdate.${field}`, value)
    checkAtMostAll(report, `${at}.rollingUpdate.${field}`, value)
  }
  if (!isOn(report, 'DaemonSetUpdateSurge')) {
    if (isZero(maxUnavailable)) invalid(report, `${at}.rollingUpdate.maxUnavailable`, maxUnavailable, 'cannot be 0')
  } else if (isZero(maxUnavailable) &&
    isZero(maxSurge)) required(report, `${at}.rollingUpdate.maxUnavailable`, 'cannot be 0 when maxSurge is 0')
  else if (!isZero(maxUnavailable) && !isZero(maxSurge)) {
    invalid(report, `${at}.rollingUpdate.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')
  }
}

export function validateDaemonSetStatus ({ status }: DaemonSet, { status: old }: DaemonSet, report: Report): void {
  checkCounts(status, [
    'currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady', 'observedGeneration',
    'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'
  ], [], report)
  checkCollisions(status.collisionCount, old.collisionCount, report)
}
