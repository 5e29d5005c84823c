/** Rules on pods that templates need not keep to, and on what may change of a pod. */
import { between, forbidden, invalid } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { sameValue } from '../../../language/values.js'
import type { Toleration } from '../affinity.js'
import type { Container } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'
import type { Pod } from '../pods.js'
import { checkPodAnnotationChanges, checkPodAnnotations, checkSeccompMatches } from './annotations.js'
import { checkTrimmed } from './containers.js'
import { checkClaims } from './volumes.js'

const ANNOTATIONS = 'metadata.annotations'

export function validatePod ({ metadata, spec }: Pod, report: Report): void {
  const { volumes = [], containers = [], initContainers = [], serviceAccountName = '' } = spec
  checkPodAnnotations(metadata.annotations, spec, ANNOTATIONS, report)
  checkClaims(volumes, metadata.name ?? '', 'spec.volumes', report)
  if (serviceAccountName === '') {
    volumes.forEach(({ projected }, index) => projected?.sources?.forEach(({ serviceAccountToken }, source) => {
      if (serviceAccountToken !== undefined) forbidden(report, `spec.volumes[${index}].projected.sources[${source}].serviceAccountToken`, 'must not be specified when serviceAccountName is not set')
    }))
  }
  containers.forEach(({ image = '' }, index) => checkTrimmed(image, `spec.containers[${index}].image`, report))
  initContainers.forEach(({ image = '' }, index) => checkTrimmed(image, `spec.initContainers[${index}].image`, report))
}

export function validateNewPod ({ metadata, spec }: Pod, report: Report): void {
  if ((spec.ephemeralContainers ?? []).length > 0) forbidden(report, 'spec.ephemeralContainers', 'cannot be set on create')
  checkSeccompMatches(metadata.annotations, spec, 'spec', report)
}

const CHANGEABLE = '`spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing tolerations) or `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

/** A pod that runs can be given other images, more tolerations and less time. */
export function validatePodUpdate ({ metadata, spec }: Pod, { metadata: oldMetadata, spec: old }: Pod, report: Report): void {
  checkPodAnnotationChanges(metadata.annotations, oldMetadata.annotations, ANNOTATIONS, report)
  for (const field of ['containers', 'initContainers'] as const) {
    if ((spec[field] ?? []).length !== (old[field] ?? []).length) return forbidden(report, `spec.${field}`, 'pod updates may not add or remove containers')
  }
  if (!checkDeadline(spec, old, report)) return
  checkTolerations(spec.tolerations ?? [], old.tolerations ?? [], report)
  if (!sameValue(withFreePartsOf(spec, old), old)) forbidden(report, 'spec', `pod updates may not change fields other than ${CHANGEABLE}`)
}

const DEADLINE = 'spec.activeDeadlineSeconds'
const MOST_SECONDS = 2 ** 31 - 1

/** @returns whether it is worth looking further */
function checkDeadline ({ activeDeadlineSeconds: seconds }: PodSpec, { activeDeadlineSeconds: before }: PodSpec, report: Report): boolean {
  if (seconds === undefined) {
    if (before !== undefined) invalid(report, DEADLINE, null, 'must not be removed')
    return true
  }
  if (seconds < 0 || seconds > MOST_SECONDS) between(report, DEADLINE, seconds, 0, MOST_SECONDS)
  else if (before !== undefined && before < seconds) invalid(report, DEADLINE, seconds, 'must be less than or equal to previous value')
  else return true
  return false
}

function checkTolerations (tolerations: readonly Toleration[], old: readonly Toleration[], report: Report): void {
  const timeless = (toleration: Toleration) => JSON.stringify([toleration.key, toleration.operator, toleration.value, toleration.effect].map(part => part ?? ''))
  const there = new Set(tolerations.map(timeless))
  if (!old.every(toleration => there.has(timeless(toleration)))) forbidden(report, 'spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')
}

/** The spec as it would be if only those parts had changed that may not. */
function withFreePartsOf (spec: PodSpec, old: PodSpec): PodSpec {
  const images = (containers: readonly Container[] = [], before: readonly Container[] = []) => containers.map((container, index) => ({ ...container, image: before[index]?.image }))
  const grace = old.terminationGracePeriodSeconds !== undefined && old.terminationGracePeriodSeconds < 0 && spec.terminationGracePeriodSeconds === 1 ? old.terminationGracePeriodSeconds : spec.terminationGracePeriodSeconds
  return {
    ...spec,
    containers: images(spec.containers, old.containers),
    initContainers: images(spec.initContainers, old.initContainers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    terminationGracePeriodSeconds: grace
  }
}

/** Ephemeral containers come, and stay as they came. */
export function validateEphemeralUpdate ({ metadata, spec }: Pod, { metadata: oldMetadata, spec: old }: Pod, report: Report): void {
  checkPodAnnotationChanges(metadata.annotations, oldMetadata.annotations, ANNOTATIONS, report)
  const now = new Map((spec.ephemeralContainers ?? []).map(container => [container.name, container]))
  for (const container of old.ephemeralContainers ?? []) {
    const next = now.get(container.name)
    if (next === undefined) forbidden(report, 'spec.ephemeralContainers', `existing ephemeral containers ${JSON.stringify(container.name)} may not be removed`)
    else if (!sameValue(next, container)) forbidden(report, 'spec.ephemeralContainers', `existing ephemeral containers ${JSON.stringify(container.name)} may not be changed`)
  }
}
