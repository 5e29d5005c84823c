/**
 * Whether an update of a pod changes anything the standards check: images and seccomp annotations are the only mutable
 * parts.
 */
import type { Pod } from '../../schemas/api/core/pods.js'
import type { TypedRequest } from '../../registry/admission.js'

const SECCOMP_OF_POD = 'seccomp.security.alpha.orch.io/pod'
const SECCOMP_OF_CONTAINER = 'container.seccomp.security.alpha.orch.io/'

export function isSignificant ({ object, oldObject: old }: TypedRequest<Pod>): boolean {
  if (object === undefined || old === undefined) return true
  const annotation = (pod: Pod, name: string): string => pod.metadata.annotations?.[name] ?? ''
  if (annotation(object, SECCOMP_OF_POD) !== annotation(old, SECCOMP_OF_POD)) return true
  for (const member of ['containers', 'initContainers', 'ephemeralContainers'] as const) {
    const before = new Map((old.spec[member] ?? []).map(container => [container.name, container]))
    const now = object.spec[member] ?? []
    if (member !== 'ephemeralContainers' && now.length !== before.size) return true
    for (const { name, image } of now) {
      const key = SECCOMP_OF_CONTAINER + name
      if (before.get(name)?.image !== image || annotation(object, key) !== annotation(old, key)) return true
    }
  }
  return false
}
