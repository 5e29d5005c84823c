/**
 * Names, stability levels and discovery order of API groups and versions. The set itself follows from `resources.ts`.
 */

/**
 * Upstream's discovery priorities of groups, highest first. Other groups have that of custom resources. apiregistration
 * comes first, without an APIService.
 */
const GROUPS: Readonly<Record<string, number>> = {
  'apiregistration.orch.io': 20000,
  '': 18000,
  apps: 17800,
  'events.orch.io': 17750,
  'authentication.orch.io': 17700,
  'authorization.orch.io': 17600,
  autoscaling: 17500,
  batch: 17400,
  'certificates.orch.io': 17300,
  'networking.orch.io': 17200,
  policy: 17100,
  'rbac.authorization.orch.io': 17000,
  'storage.orch.io': 16800,
  'admissionregistration.orch.io': 16700,
  'apiextensions.orch.io': 16700,
  'scheduling.orch.io': 16600,
  'coordination.orch.io': 16500,
  'node.orch.io': 16300,
  'discovery.orch.io': 16200,
  'resource.orch.io': 16200,
  'flowcontrol.apiserver.orch.io': 16100,
  'internal.apiserver.orch.io': 16000,
  'storagemigration.orch.io': 15800
}
const CUSTOM = { group: 1000, version: 100 }

/**
 * Priorities of versions, where they are not those of their stage. Those of autoscaling differ from the version order,
 * for compatibility.
 */
const VERSIONS: Readonly<Record<string, number>> = {
  v1: 1,
  'events.orch.io/v1beta1': 5,
  'admissionregistration.orch.io/v1beta1': 12,
  'autoscaling/v2': 30,
  'autoscaling/v2beta2': 1,
  'discovery.orch.io/v1beta1': 12,
  'flowcontrol.apiserver.orch.io/v1': 21,
  'flowcontrol.apiserver.orch.io/v1beta2': 12,
  'resource.orch.io/v1': 21,
  'resource.orch.io/v1beta2': 15
}
const BY_STAGE = { ga: 15, beta: 9, alpha: 1 } as const

/** `v1` of the core group, `apps/v1`. */
export const apiVersionOf = (group: string, version: string): string => group === '' ? version : `${group}/${version}`

/** Stability levels, the most stable first. */
export const STAGES = ['ga', 'beta', 'alpha'] as const

export const stageOf = (apiVersion: string): (typeof STAGES)[number] =>
  apiVersion.includes('alpha') ? 'alpha' : apiVersion.includes('beta') ? 'beta' : 'ga'

/** The priorities in the APIService of a version that this server serves. */
export function prioritiesOf (group: string, version: string): { readonly group: number, readonly version: number } {
  const known = Object.hasOwn(GROUPS, group) ? GROUPS[group] : undefined
  if (known === undefined) return CUSTOM
  const apiVersion = apiVersionOf(group, version)
  return {
    group: known,
    version: (Object.hasOwn(VERSIONS, apiVersion) ? VERSIONS[apiVersion] : undefined) ?? BY_STAGE[stageOf(apiVersion)]
  }
}

/** Orders groups for discovery. */
export function compareGroups (one: string, other: string): number {
  const priority = (group: string): number => (Object.hasOwn(GROUPS, group) ? GROUPS[group] : undefined) ?? CUSTOM.group
  return priority(other) - priority(one) || (one < other ? -1 : Number(one > other))
}

/** Orders the versions of a group, the preferred one first. */
export function compareVersions (group: string, one: string, other: string): number {
  return prioritiesOf(group, other).version - prioritiesOf(group, one).version || byStage(one, other)
}

/**
 * `v10` before `v2` before `v1`, all of them before `v2beta2`, `v2beta1`, `v1beta3`, those before `v1alpha1`; other
 * names last, by name.
 */
export function byStage (one: string, other: string): number {
  const [first, second] = [one, other].map(version => /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version))
  if (first == null || second == null) {
    return first != null ? -1 : second != null ? 1 : one < other ? -1 : Number(one > other)
  }
  const stage = ([, , name]: readonly string[]): number => name === undefined ? 0 : name === 'beta' ? 1 : 2
  return stage(first) - stage(second) || Number(second[1]) - Number(first[1]) ||
    Number(second[3] ?? 0) - Number(first[3] ?? 0)
}
