/** Validation of Deployments. */
import { checkCollisions, checkCounts, checkReplicated } from '../../core/rules/workloads.js'
import { forbidden, invalid, notNegative, notSupported, required } from '../../../rules/findings.js'
import { checkAtMostAll, checkIntOrPercent, isZero } from '../../../rules/int-or-percent.js'
import type { Report } from '../../../language/declare.js'
import type { Deployment, DeploymentSpec, DeploymentStrategy } from '../deployments.js'

export function validateDeploymentSpec (spec: DeploymentSpec, at: string, report: Report): void {
  const { minReadySeconds = 0, revisionHistoryLimit, progressDeadlineSeconds: deadline } = spec
  checkReplicated(spec, at, report)
  checkStrategy(spec.strategy, `${at}.strategy`, report)
  notNegative(report, `${at}.revisionHistoryLimit`, revisionHistoryLimit)
  notNegative(report, `${at}.progressDeadlineSeconds`, deadline)
  if (deadline !== undefined && deadline <= minReadySeconds) {
    invalid(report, `${at}.progressDeadlineSeconds`, deadline, 'must be greater than minReadySeconds')
  }
}

function checkStrategy (strategy: DeploymentStrategy, at: string, report: Report): void {
  const { type, rollingUpdate } = strategy
  if (type === 'Recreate') {
    if (rollingUpdate !== undefined) {
      forbidden(report, `${at}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")
    }
    return
  }
  if (type !== 'RollingUpdate') return notSupported(report, at, strategy, ['Recreate', 'RollingUpdate'])
  if (rollingUpdate === undefined) return required(report, `${at}.rollingUpdate`, 'must be specified for RollingUpdate')
  const { maxUnavailable, maxSurge } = rollingUpdate
  checkIntOrPercent(report, `${at}.rollingUpdate.maxUnavailable`, maxUnavailable)
  checkIntOrPercent(report, `${at}.rollingUpdate.maxSurge`, maxSurge)
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    invalid(report, `${at}.rollingUpdate.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0')
  }
  checkAtMostAll(report, `${at}.rollingUpdate.maxUnavailable`, maxUnavailable)
}

export function validateDeploymentStatus ({ status }: Deployment, { status: old }: Deployment, report: Report): void {
  checkCounts(
    status,
    [
      'observedGeneration', 'replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas',
      'terminatingReplicas'
    ],
    ['updatedReplicas', 'readyReplicas', 'availableReplicas'], report
  )
  checkCollisions(status.collisionCount, old.collisionCount, report)
}
