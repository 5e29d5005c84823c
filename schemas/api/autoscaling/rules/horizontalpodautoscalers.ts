/** Validation of HorizontalPodAutoscalers of every version, in the v2 form. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { compareQuantities } from '../../../meta/quantity.js'
import { forbidden, invalid, notSupported, required } from '../../../rules/findings.js'
import { validateMetric, validateObjectReference } from './metrics.js'
import { fromV1 } from '../v1-conversion.js'
import type * as v1 from '../v1.js'
import type { HorizontalPodAutoscalerSpec, HPAScalingRules } from '../v2.js'

/** Metrics that exist without pods, so they can scale from zero. */
const OF_NO_PODS = ['Object', 'External']
const MAX_WINDOW = 3600
const MAX_PERIOD = 1800
const SELECTIONS = ['Disabled', 'Max', 'Min']
const POLICIES = ['Percent', 'Pods']

/** @param old undefined on create */
export function validateAutoscaler (
  stored: v1.HorizontalPodAutoscaler, old: v1.HorizontalPodAutoscaler | undefined, report: Report
): void {
  const { spec } = fromV1(stored)
  validateReplicas(spec, isOn(report, 'HPAScaleToZero') || old?.spec.minReplicas === 0 ? 0 : 1, report)
  validateObjectReference(spec.scaleTargetRef, 'spec.scaleTargetRef', report)
  if (isOn(report, 'AutoscalerNamesGroupOfTarget') &&
    (old === undefined || targetFinding(old.spec.scaleTargetRef) === undefined)) {
    const { apiVersion = '' } = spec.scaleTargetRef
    const wrong = targetFinding(spec.scaleTargetRef)
    if (wrong !== undefined) invalid(report, 'spec.scaleTargetRef.apiVersion', apiVersion, wrong)
  }
  for (const [index, metric] of (spec.metrics ?? []).entries()) validateMetric(metric, `spec.metrics[${index}]`, report)
  if (spec.minReplicas === 0 && !(spec.metrics ?? []).some(({ type }) => OF_NO_PODS.includes(type))) {
    forbidden(
      report, 'spec.metrics', 'must specify at least one Object or External metric to support scaling to zero replicas'
    )
  }
  const { scaleUp, scaleDown } = spec.behavior ?? {}
  if (scaleUp !== undefined) validateScaling(scaleUp, 'spec.behavior.scaleUp', report)
  if (scaleDown !== undefined) validateScaling(scaleDown, 'spec.behavior.scaleDown', report)
}

/** What is wrong with the group of a target: only replication controllers have none. */
function targetFinding (
  { apiVersion = '', kind }: HorizontalPodAutoscalerSpec['scaleTargetRef']
): string | undefined {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return 'must be a version, or a group and a version'
  const hasNone = parts.length < 2 || parts[0] === ''
  return hasNone && kind !== 'ReplicationController' ? 'must specify API group' : undefined
}

function validateReplicas (
  { minReplicas, maxReplicas }: HorizontalPodAutoscalerSpec, least: number, report: Report
): void {
  if (minReplicas !== undefined && minReplicas < least) {
    invalid(report, 'spec.minReplicas', minReplicas, `must be greater than or equal to ${least}`)
  }
  if (maxReplicas < 1) invalid(report, 'spec.maxReplicas', maxReplicas, 'must be greater than 0')
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    invalid(report, 'spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`')
  }
}

function validateScaling (
  { stabilizationWindowSeconds: window, selectPolicy, policies = [], tolerance }: HPAScalingRules, at: string,
  report: Report
): void {
  if (tolerance !== undefined && compareQuantities(tolerance, '0') < 0) {
    invalid(report, `${at}.tolerance`, tolerance, 'must be greater than or equal to zero')
  }
  if (window !== undefined && window < 0) {
    invalid(report, `${at}.stabilizationWindowSeconds`, window, 'must be greater than or equal to zero')
  }
  if (window !== undefined && window > MAX_WINDOW) {
    invalid(report, `${at}.stabilizationWindowSeconds`, window, `must be less than or equal to ${MAX_WINDOW}`)
  }
  if (selectPolicy !== undefined && !SELECTIONS.includes(selectPolicy)) {
    notSupported(report, `${at}.selectPolicy`, selectPolicy, SELECTIONS)
  }
  if (policies.length === 0) required(report, `${at}.policies`, 'must specify at least one Policy')
  for (const [index, { type, value, periodSeconds }] of policies.entries()) {
    const field = `${at}.policies[${index}]`
    if (!POLICIES.includes(type)) notSupported(report, `${field}.type`, type, POLICIES)
    if (value <= 0) invalid(report, `${field}.value`, value, 'must be greater than zero')
    if (periodSeconds <= 0) invalid(report, `${field}.periodSeconds`, periodSeconds, 'must be greater than zero')
    if (periodSeconds > MAX_PERIOD) {
      invalid(report, `${field}.periodSeconds`, periodSeconds, `must be less than or equal to ${MAX_PERIOD}`)
    }
  }
}
