/**
 * What the subresource resize changes of a pod: amounts of cpu and memory. All else is that of the stored pod, unless
 * the containers are others, which validation refuses.
 */
import { isOn, type Gates } from '../../../gates.js'
import type { Report } from '../../../language/declare.js'
import { clone, sameValue } from '../../../language/values.js'
import { forbidden, invalid } from '../../../rules/findings.js'
import type { Container } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'
import type { Pod } from '../pods.js'
import type { ResourceRequirements } from '../resource-requirements.js'
import { defaultPodResources } from './pod-resources.js'
import { qosClass } from './qos.js'
import { isSidecar, RESIZED } from './restarts.js'

const LISTS = ['containers', 'initContainers'] as const
const MEMBERS = ['requests', 'limits'] as const
type Amounts = Readonly<Record<string, string>>

const sameNames = (containers: readonly Container[] = [], old: readonly Container[] = []): boolean =>
  containers.length === old.length && containers.every(({ name }, index) => name === old[index]?.name)

/** Takes resources and policies of resizes from the body and all else from the stored pod. */
export function keepAllButResources (pod: Pod, old: Pod, gates: Gates): void {
  const { spec } = pod
  pod.status = clone(old.status)
  if (LISTS.some(list => (spec[list] ?? []).length !== (old.spec[list] ?? []).length)) return
  const next: PodSpec = clone(old.spec)
  for (const list of LISTS) {
    if (!sameNames(spec[list], old.spec[list])) next[list] = spec[list]
    next[list]?.forEach((container, index) => {
      const { resources, resizePolicy } = spec[list]?.[index] ?? container
      Object.assign(container, { resources, resizePolicy })
      if (resizePolicy === undefined) delete container.resizePolicy
    })
  }
  if (gates.enabled('InPlacePodLevelResourcesVerticalScaling')) {
    next.resources = spec.resources
    if (next.resources === undefined) delete next.resources
    else defaultPodResources(next)
  }
  pod.spec = next
}

const ONLY = 'only cpu and memory resources are mutable'

export function validatePodResize (pod: Pod, old: Pod, report: Report): void {
  const { spec } = pod
  if (old.metadata.annotations?.['orch.io/config.mirror'] !== undefined) {
    return forbidden(report, '', 'static pods cannot be resized')
  }
  if (old.spec.os?.name === 'windows') return forbidden(report, '', 'windows pods cannot be resized')
  if (qosClass(spec) !== (old.status.qosClass ?? qosClass(old.spec))) {
    invalid(report, 'spec', pod.status.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing')
  }
  const running = old.status.containerStatuses?.find(({ state }) => state.running !== undefined)
  if (running !== undefined && running.resources === undefined) {
    forbidden(report, 'spec', 'Pod running on node without support for resize')
  }
  if ((old.status.nodeAllocatableResourceClaimStatuses ?? []).length > 0) {
    forbidden(report, 'spec', 'pods with node allocatable resource claims cannot be resized')
  }
  checkPodLevel(spec, old.spec, report)
  if (!checkNames(spec, old.spec, report)) return
  for (const list of [...LISTS].reverse()) {
    spec[list]?.forEach(({ resources }, index) => {
      checkNoneGone(resources, old.spec[list]?.[index]?.resources, ['', `spec.${list}[${index}].resources`], report)
    })
  }
  spec.containers?.forEach((container, index) => {
    const before = old.spec.containers?.[index]
    if (before !== undefined && !sameValue(withOldAmounts(container, before), before)) forbidden(report, 'spec', ONLY)
  })
  spec.initContainers?.forEach((container, index) => {
    const before = old.spec.initContainers?.[index]
    if (before !== undefined) checkInit(container, before, `spec.initContainers[${index}]`, report)
  })
}

/** @returns whether the containers are the same */
function checkNames (spec: PodSpec, old: PodSpec, report: Report): boolean {
  for (const list of LISTS) {
    const [now, before] = [spec[list] ?? [], old[list] ?? []]
    if (now.length !== before.length) forbidden(report, `spec.${list}`, `${list} may not be added or removed on resize`)
    else {
      now.forEach(({ name }, index) => {
        if (name === before[index]?.name) return
        forbidden(report, `spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`)
      })
    }
  }
  return LISTS.every(list => sameNames(spec[list], old[list]))
}

/** Amounts once given may change and not go. @param of what they are of, and where they are */
function checkNoneGone (
  now: ResourceRequirements | undefined, old: ResourceRequirements | undefined,
  [of, at]: readonly [of: string, at: string], report: Report
): void {
  for (const member of MEMBERS) {
    const amounts = now?.[member] ?? {}
    if (Object.keys(old?.[member] ?? {}).some(name => !Object.hasOwn(amounts, name))) {
      forbidden(report, `${at}.${member}`, `${of}resource ${member} cannot be removed`)
    }
  }
}

function checkPodLevel ({ resources }: PodSpec, { resources: old }: PodSpec, report: Report): void {
  if (resources === undefined) {
    if (old !== undefined) forbidden(report, 'spec.resources', 'pod-level resources cannot be removed')
    return
  }
  checkNoneGone(resources, old, ['pod-level ', 'spec.resources'], report)
  if (!sameValue(withOld(resources, old), old ?? {})) forbidden(report, 'spec', `${ONLY} at pod-level`)
}

function checkInit (container: Container, old: Container, at: string, report: Report): void {
  if (sameValue(container, old)) return
  if (!isSidecar(old) && !isOn(report, 'InPlacePodVerticalScalingInitContainers')) {
    return forbidden(report, at, 'resources for non-sidecar init containers are immutable')
  }
  const others = withOldAmounts(container, old)
  if (!sameValue(others, old)) {
    forbidden(report, at, 'only cpu and memory resources for init or sidecar containers are mutable')
  }
  if (!isSidecar(old) && others.resizePolicy?.some(({ restartPolicy }) => restartPolicy === 'RestartContainer')) {
    forbidden(report, at, 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized')
  }
}

const withOldAmounts = (container: Container, old: Container): Container =>
  ({ ...container, resources: withOld(container.resources, old.resources) })

/** The requirements with cpu and memory of old ones. */
function withOld (now: ResourceRequirements, old: ResourceRequirements | undefined): ResourceRequirements {
  const result = { ...now }
  for (const member of MEMBERS) {
    const before: Amounts = old?.[member] ?? {}
    result[member] = Object.fromEntries([
      ...Object.entries(now[member] ?? {}).filter(([name]) => !RESIZED.includes(name)),
      ...Object.entries(before).filter(([name]) => RESIZED.includes(name))
    ])
  }
  return result
}
