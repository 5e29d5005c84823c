/** Finds pods and pod templates in objects. */
import type { PodSpec } from '../schemas/api/core/pod-spec.js'
import type { ObjectMeta } from '../schemas/meta/object.js'

/** The parts of a pod or pod template that are checked. */
export interface PodLike { readonly metadata: Pick<ObjectMeta, 'name' | 'annotations'>, readonly spec: PodSpec }

/** Paths by group and resource; '' for the object itself. */
const PATHS: ReadonlyMap<string, string> = new Map([
  ['/pods', ''],
  ['/podtemplates', 'template'],
  ['/replicationcontrollers', 'spec.template'],
  ...['deployments', 'replicasets', 'statefulsets', 'daemonsets']
    .map(plural => [`apps/${plural}`, 'spec.template'] as const),
  ['batch/jobs', 'spec.template'],
  ['batch/cronjobs', 'spec.jobTemplate.spec.template']
])

/** Undefined for resources without pods. */
export const podPath = (group: string, resource: string): string | undefined => PATHS.get(`${group}/${resource}`)

/** The path of the pod spec. */
export function podSpecPath (group: string, resource: string): string | undefined {
  const path = podPath(group, resource)
  return path === undefined ? undefined : path === '' ? 'spec' : `${path}.spec`
}

/** Undefined if the object has none. */
export function podIn (group: string, resource: string, object: unknown): PodLike | undefined {
  const path = podPath(group, resource)
  if (path === undefined) return undefined
  let value = object
  for (const part of path === '' ? [] : path.split('.')) value = (value as Record<string, unknown> | undefined)?.[part]
  const { metadata, spec } = (value ?? {}) as Partial<PodLike> // as the resource's message declares
  return spec === undefined ? undefined : { metadata: metadata ?? {}, spec }
}
