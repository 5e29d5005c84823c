/** The checks of the pod security standards, and helpers for their messages. */
import type { Container } from '../../schemas/api/core/containers.js'
import type { PodSecurityContext, SecurityContext } from '../../schemas/api/core/security-contexts.js'
import type { PodLike } from '../pod-templates.js'

/** Why a pod violates a standard: a short reason, and the details. */
export interface Violation { readonly reason: string, readonly detail: string }

export type CheckPod = (pod: PodLike) => Violation | undefined

export const plural = (one: string, many: string, count: number): string => count === 1 ? one : many
export const quoted = (names: Iterable<string>): string => [...names].map(name => JSON.stringify(name)).join(', ')
/** Sorted, without duplicates. */
export const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort()

/** `container "a"`, `containers "a", "b"`. */
export const containersNamed = (names: readonly string[]): string =>
  `${plural('container', 'containers', names.length)} ${quoted(names)}`

/** All containers: init, regular and ephemeral ones. */
export function containersOf ({ spec }: PodLike): Array<Omit<Container, 'resources' | 'image'>> {
  return [...spec.initContainers ?? [], ...spec.containers ?? [], ...spec.ephemeralContainers ?? []]
}

/** Names of containers whose security context, possibly undefined, satisfies the predicate. */
export const containersWhere = (pod: PodLike, predicate: (context: SecurityContext | undefined) => boolean): string[] =>
  containersOf(pod).filter(({ securityContext }) => predicate(securityContext)).map(({ name }) => name)

/**
 * `pod and container "a"`: the pod and containers whose security context satisfies the predicate; undefined if none
 * does.
 */
export function securityContextsWhere (
  pod: PodLike, predicate: (context: PodSecurityContext | SecurityContext) => boolean
): string | undefined {
  const names = containersWhere(pod, context => context !== undefined && predicate(context))
  const { securityContext } = pod.spec
  const places = [
    ...securityContext !== undefined && predicate(securityContext) ? ['pod'] : [],
    ...names.length > 0 ? [containersNamed(names)] : []
  ]
  return places.length > 0 ? places.join(' and ') : undefined
}
