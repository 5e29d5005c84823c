/** Validation of rules that taint devices. */
import type { Report } from '../../../language/types.js'
import { qualifiedName } from '../../../names.js'
import { validateConditions } from '../../../rules/conditions.js'
import { checkName } from '../../../rules/findings.js'
import type { DeviceTaint, DeviceTaintRuleSpec, DeviceTaintRuleStatus } from '../v1alpha3.js'
import { checkDevice, checkDriver, checkPool, checkValue, isShort } from './names.js'
import { checkEffect } from './selection.js'

const MOST_CONDITIONS = 8

/** @param old an effect that an update keeps stays valid */
export function validateTaint (
  { key, value = '', effect }: DeviceTaint, old: DeviceTaint | undefined, at: string, report: Report
): void {
  checkName(report, `${at}.key`, key, qualifiedName)
  if (value !== '') checkValue(value, `${at}.value`, report)
  if (effect !== old?.effect) checkEffect(effect, `${at}.effect`, report)
}

export function validateTaintRule (
  { deviceSelector: { driver, pool, device } = {}, taint }: DeviceTaintRuleSpec, old: DeviceTaintRuleSpec | undefined,
  report: Report
): void {
  const at = 'spec.deviceSelector'
  if (driver !== undefined) checkDriver(driver, `${at}.driver`, report)
  if (pool !== undefined) checkPool(pool, `${at}.pool`, report)
  if (device !== undefined) checkDevice(device, `${at}.device`, report)
  validateTaint(taint, old?.taint, 'spec.taint', report)
}

export function validateTaintRuleStatus ({ conditions = [] }: DeviceTaintRuleStatus, report: Report): void {
  const at = 'status.conditions'
  if (isShort(conditions, MOST_CONDITIONS, at, report)) validateConditions(conditions, at, report)
}
