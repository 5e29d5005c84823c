/** What a check of the pod security standards is, and how what it finds is told. */
import type { Container } from '../../schemas/api/core/containers.js'
import type { PodSecurityContext, SecurityContext } from '../../schemas/api/core/security-contexts.js'
import type { PodLike } from '../pod-templates.js'

/** Why a pod does not keep to a standard: in a word or two, and where. */
export interface Violation { readonly reason: string, readonly detail: string }

export type CheckPod = (pod: PodLike) => Violation | undefined

export const plural = (one: string, many: string, count: number): string => count === 1 ? one : many
export const quoted = (names: Iterable<string>): string => [...names].map(name => JSON.stringify(name)).join(', ')
/** Each once, in order. */
export const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort()

/** `container "a"`, `containers "a", "b"`. */
export const containersNamed = (names: readonly string[]): string => `${plural('container', 'containers', names.length)} ${quoted(names)}`

/** All of a pod: those that come before, those that run, those for debugging. */
export function containersOf ({ spec }: PodLike): Array<Pick<Container, 'name' | 'ports' | 'securityContext'>> {
  return [...spec.initContainers ?? [], ...spec.containers ?? [], ...spec.ephemeralContainers ?? []]
}

/** Names of the containers with such a security context; one that has none is asked about with undefined. */
export const containersWhere = (pod: PodLike, isSo: (context: SecurityContext | undefined) => boolean): string[] =>
  containersOf(pod).filter(({ securityContext }) => isSo(securityContext)).map(({ name }) => name)

/** `pod and container "a"`, of the pod itself and its containers where they are so; undefined where none is. */
export function setters (pod: PodLike, isSo: (context: PodSecurityContext | SecurityContext) => boolean): string | undefined {
  const names = containersWhere(pod, context => context !== undefined && isSo(context))
  const { securityContext } = pod.spec
  const found = [...securityContext !== undefined && isSo(securityContext) ? ['pod'] : [], ...names.length > 0 ? [containersNamed(names)] : []]
  return found.length > 0 ? found.join(' and ') : undefined
}
