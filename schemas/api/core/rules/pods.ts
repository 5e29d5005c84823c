/** Validation of pods beyond their templates, and of pod updates. */
import { isOn } from '../../../gates.js'
import { checkRange, forbidden, invalid } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { sameValue } from '../../../language/values.js'
import type { Toleration } from '../affinity.js'
import type { Container } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'
import type { Pod } from '../pods.js'
import { checkPodAnnotationChanges, checkPodAnnotations, checkSeccompMatches, MIRROR } from './annotations.js'
import { checkAppArmorMatches } from './apparmor.js'
import { checkTrimmed } from './containers.js'
import { checkNotOfNode } from './device-claims.js'
import { checkGateChanges, withOldPlace } from './pod-updates.js'
import { checkClaims } from './volumes.js'

const ANNOTATIONS = 'metadata.annotations'

export function validatePod ({ metadata, spec }: Pod, report: Report): void {
  const { volumes = [], containers = [], initContainers = [], serviceAccountName = '' } = spec
  checkPodAnnotations(metadata.annotations, spec, ANNOTATIONS, report)
  checkNotOfNode(metadata, spec, report)
  checkClaims(volumes, metadata.name ?? '', 'spec.volumes', report)
  if (serviceAccountName === '') {
    volumes.forEach(({ projected }, index) => projected?.sources?.forEach(({ serviceAccountToken }, source) => {
      if (serviceAccountToken !== undefined) {
        forbidden(
          report, `spec.volumes[${index}].projected.sources[${source}].serviceAccountToken`,
          'must not be specified when serviceAccountName is not set'
        )
      }
    }))
  }
  containers.forEach(({ image = '' }, index) => checkTrimmed(image, `spec.containers[${index}].image`, report))
  initContainers.forEach(({ image = '' }, index) => checkTrimmed(image, `spec.initContainers[${index}].image`, report))
}

export function validateNewPod ({ metadata, spec }: Pod, report: Report): void {
  if ((spec.ephemeralContainers ?? []).length > 0) {
    forbidden(report, 'spec.ephemeralContainers', 'cannot be set on create')
  }
  checkSeccompMatches(metadata.annotations, spec, 'spec', report)
  checkAppArmorMatches({ metadata, spec }, 'spec', report)
  if ((spec.schedulingGates ?? []).length > 0 && (spec.nodeName ?? '') !== '') {
    forbidden(report, 'spec.nodeName', 'cannot be set until all schedulingGates have been cleared')
  }
}

const CHANGEABLE =
  '`spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` ' +
    '(only additions to existing tolerations) or `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it ' +
    'was previously negative)'

/** Images may change, tolerations be added, and the deadline be shortened. */
export function validatePodUpdate (
  { metadata, spec }: Pod, { metadata: oldMetadata, spec: old }: Pod, report: Report
): void {
  checkPodAnnotationChanges(metadata.annotations, oldMetadata.annotations, ANNOTATIONS, report)
  for (const field of ['containers', 'initContainers'] as const) {
    if ((spec[field] ?? []).length !== (old[field] ?? []).length) {
      return forbidden(report, `spec.${field}`, 'pod updates may not add or remove containers')
    }
  }
  if (!checkDeadline(spec, old, report)) return
  checkTolerations(spec.tolerations ?? [], old.tolerations ?? [], report)
  checkGateChanges(spec, old, report)
  if (!sameValue(withOldPlace(withFreePartsOf(spec, old), old, report), old)) {
    forbidden(report, 'spec', `pod updates may not change fields other than ${CHANGEABLE}`)
  }
}

const DEADLINE = 'spec.activeDeadlineSeconds'
const MAX_SECONDS = 2 ** 31 - 1

/** @returns whether validation should continue */
function checkDeadline (
  { activeDeadlineSeconds: seconds }: PodSpec, { activeDeadlineSeconds: before }: PodSpec, report: Report
): boolean {
  if (seconds === undefined) {
    if (before !== undefined) invalid(report, DEADLINE, null, 'must not be removed')
    return true
  }
  if (seconds < 0 || seconds > MAX_SECONDS) checkRange(report, DEADLINE, seconds, 0, MAX_SECONDS)
  else if (before !== undefined &&
    before < seconds) invalid(report, DEADLINE, seconds, 'must be less than or equal to previous value')
  else return true
  return false
}

function checkTolerations (tolerations: readonly Toleration[], old: readonly Toleration[], report: Report): void {
  const timeless = (toleration: Toleration) =>
    JSON.stringify([toleration.key, toleration.operator, toleration.value, toleration.effect].map(part => part ?? ''))
  const there = new Set(tolerations.map(timeless))
  if (!old.every(toleration => there.has(timeless(toleration)))) {
    forbidden(report, 'spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')
  }
}

/** The new spec with all mutable fields taken from the old one. */
function withFreePartsOf (spec: PodSpec, old: PodSpec): PodSpec {
  const images = (containers: readonly Container[] = [], before: readonly Container[] = []) =>
    containers.map((container, index) => ({ ...container, image: before[index]?.image }))
  const grace = old.terminationGracePeriodSeconds !== undefined && old.terminationGracePeriodSeconds < 0 &&
    spec.terminationGracePeriodSeconds === 1
    ? old.terminationGracePeriodSeconds
    : spec.terminationGracePeriodSeconds
  return {
    ...spec,
    containers: images(spec.containers, old.containers),
    initContainers: images(spec.initContainers, old.initContainers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    terminationGracePeriodSeconds: grace,
    schedulingGates: old.schedulingGates
  }
}

/** Ephemeral containers may be added, not changed or removed. */
export function validateEphemeralUpdate (
  { metadata, spec }: Pod, { metadata: oldMetadata, spec: old }: Pod, report: Report
): void {
  checkPodAnnotationChanges(metadata.annotations, oldMetadata.annotations, ANNOTATIONS, report)
  if (isOn(report, 'EphemeralContainersAimAtOthers') && oldMetadata.annotations?.[MIRROR] !== undefined) {
    return forbidden(report, '', 'static pods do not support ephemeral containers')
  }
  const now = new Map((spec.ephemeralContainers ?? []).map(container => [container.name, container]))
  for (const container of old.ephemeralContainers ?? []) {
    const next = now.get(container.name)
    if (next ===
      undefined) {
      forbidden(
        report, 'spec.ephemeralContainers',
        `existing ephemeral containers ${JSON.stringify(container.name)} may not be removed`
      )
    } else if (!sameValue(next, container)) {
      forbidden(
        report, 'spec.ephemeralContainers',
        `existing ephemeral containers ${JSON.stringify(container.name)} may not be changed`
      )
    }
  }
}
