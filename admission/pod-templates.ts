/** Where the pods are in the objects that are made of them. */
import type { PodSpec } from '../schemas/api/core/pod-spec.js'
import type { ObjectMeta } from '../schemas/meta/object.js'

/** What is looked at of a pod, or of the template of one. */
export interface PodLike { readonly metadata: Pick<ObjectMeta, 'name' | 'annotations'>, readonly spec: PodSpec }

/** Paths by group and resource; '' for the object itself. */
const PATHS: ReadonlyMap<string, string> = new Map([
  ['/pods', ''],
  ['/podtemplates', 'template'],
  ['/replicationcontrollers', 'spec.template'],
  ...['deployments', 'replicasets', 'statefulsets', 'daemonsets'].map(plural => [`apps/${plural}`, 'spec.template'] as const),
  ['batch/jobs', 'spec.template'],
  ['batch/cronjobs', 'spec.jobTemplate.spec.template']
])

/** Undefined for resources that have none. */
export const podPath = (group: string, resource: string): string | undefined => PATHS.get(`${group}/${resource}`)

/** The path of its spec. */
export function podSpecPath (group: string, resource: string): string | undefined {
  const path = podPath(group, resource)
  return path === undefined ? undefined : path === '' ? 'spec' : `${path}.spec`
}

/** Undefined where the object has none. */
export function podIn (group: string, resource: string, object: unknown): PodLike | undefined {
  const path = podPath(group, resource)
  if (path === undefined) return undefined
  let found = object
  for (const part of path === '' ? [] : path.split('.')) found = (found as Record<string, unknown> | undefined)?.[part]
  const { metadata, spec } = (found ?? {}) as Partial<PodLike> // what the declaration of the object has there
  return spec === undefined ? undefined : { metadata: metadata ?? {}, spec }
}
