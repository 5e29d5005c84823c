/** Validation shared by workload controllers: selectors, templates, status counts. */
import { invalid, notNegative, required } from '../../../rules/findings.js'
import type { Int64, Report } from '../../../language/declare.js'
import { validatePart } from '../../../language/validation.js'
import type { LabelSelector } from '../../../meta/options.js'
import { selects, validateLabelSelector } from '../../../selectors/objects.js'
import { PodTemplateSpec } from '../pod-spec.js'
import type { ReplicationControllerSpec } from '../replicationcontrollers.js'
import { checkRunsOn, mismatch } from './templates.js'
import { checkSharedDisks } from './volumes.js'

export function checkSelector (
  selector: LabelSelector | undefined, controller: string, field: string, report: Report
): void {
  if (selector === undefined) return required(report, field)
  validateLabelSelector(selector, field, report)
  checkNotEmpty(selector, controller, field, report)
}

/** An empty selector would select the pods of every other controller. */
export function checkNotEmpty (selector: LabelSelector, controller: string, field: string, report: Report): void {
  const { matchLabels = {}, matchExpressions = [] } = selector
  if (Object.keys(matchLabels).length + matchExpressions.length === 0) {
    invalid(report, field, selector, `empty selector is invalid for ${controller}`)
  }
}

interface Replicated {
  readonly replicas?: number | undefined, readonly minReadySeconds?: number | undefined,
  readonly selector?: LabelSelector | undefined, readonly template: PodTemplateSpec
}

/** For Deployments and ReplicaSets. Validates the template only once the selector is known to be valid. */
export function checkReplicated (
  { replicas, minReadySeconds, selector, template }: Replicated, at: string, report: Report
): void {
  notNegative(report, `${at}.replicas`, replicas)
  notNegative(report, `${at}.minReadySeconds`, minReadySeconds)
  checkSelector(selector, 'deployment', `${at}.selector`, report)
  const selected = selects(selector, template.metadata.labels)
  if (selected === undefined) return invalid(report, `${at}.selector`, selector, 'invalid label selector')
  if (!selected) mismatch(template, `${at}.template`, report)
  checkTemplate(template, replicas, 'ReplicaSet', `${at}.template`, report)
}

/** ReplicationControllers have a selector of labels only. */
export function validateControllerSpec (
  { replicas, minReadySeconds, selector = {}, template }: ReplicationControllerSpec, at: string, report: Report
): void {
  notNegative(report, `${at}.minReadySeconds`, minReadySeconds)
  const labels = Object.entries(selector)
  if (labels.length === 0) required(report, `${at}.selector`)
  notNegative(report, `${at}.replicas`, replicas)
  if (template === undefined) return required(report, `${at}.template`)
  const own = template.metadata.labels ?? {}
  if (!labels.every(([key, value]) => Object.hasOwn(own, key) && own[key] === value)) {
    mismatch(template, `${at}.template`, report)
  }
  checkTemplate(template, replicas, 'ReplicationController', `${at}.template`, report)
}

function checkTemplate (
  template: PodTemplateSpec, replicas: number | undefined, controller: string, at: string, report: Report
): void {
  validatePart(PodTemplateSpec, template, at, report)
  if (replicas !== undefined && replicas > 1) {
    checkSharedDisks(template.spec.volumes ?? [], `${at}.spec.volumes`, report)
  }
  checkRunsOn(template, controller, at, report)
}

/**
 * Validates status counts; those in `within` cannot exceed `replicas`.
 * @param ready name of the ready count in error messages
 */
export function checkCounts (
  status: object, counts: readonly string[], within: readonly string[], report: Report, ready = 'readyReplicas'
): void {
  // the callers name integer fields
  const count = (name: string) => (status as Readonly<Record<string, Int64 | undefined>>)[name]
  for (const name of counts) notNegative(report, `status.${name}`, count(name))
  const all = count('replicas') ?? 0
  for (const name of within) {
    const some = count(name) ?? 0
    if (some > all) invalid(report, `status.${name}`, some, 'cannot be greater than status.replicas')
  }
  const available = count('availableReplicas') ?? 0
  if (within.includes('availableReplicas') && available > (count('readyReplicas') ?? 0)) {
    invalid(report, 'status.availableReplicas', available, `cannot be greater than ${ready}`)
  }
}

/** The collision count must never decrease, or names would be reused. */
export function checkCollisions (count: number | undefined, old: number | undefined, report: Report): void {
  notNegative(report, 'status.collisionCount', count)
  if (old !== undefined && (count === undefined || count < old)) {
    invalid(report, 'status.collisionCount', count ?? 0, 'cannot be decremented')
  }
}

/** For ReplicaSets and ReplicationControllers. */
export function validateReplicaStatus ({ status }: { status: object }, report: Report): void {
  checkCounts(
    status, [
      'replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration',
      'terminatingReplicas'
    ],
    ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], report
  )
}
