import type { Container, EphemeralContainer } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'

/** Containers of all three kinds, each with its path. */
export function containersOf (
  { initContainers = [], containers = [], ephemeralContainers = [] }: PodSpec, at: string
): Array<[container: Container | EphemeralContainer, path: string]> {
  const visited: Array<[Container | EphemeralContainer, string]> = []
  initContainers.forEach((container, index) => visited.push([container, `${at}.initContainers[${index}]`]))
  containers.forEach((container, index) => visited.push([container, `${at}.containers[${index}]`]))
  ephemeralContainers.forEach((container, index) => visited.push([container, `${at}.ephemeralContainers[${index}]`]))
  return visited
}
