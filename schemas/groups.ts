/** Names, stability levels and discovery order of API groups and versions. The set itself follows from `resources.ts`. */

/** Discovery order. Other groups follow, by name. */
const GROUPS: readonly string[] = [
  'apiregistration.orch.io', '', 'apps', 'events.orch.io', 'authentication.orch.io', 'authorization.orch.io', 'autoscaling', 'batch', 'certificates.orch.io',
  'networking.orch.io', 'policy', 'rbac.authorization.orch.io', 'storage.orch.io', 'admissionregistration.orch.io', 'apiextensions.orch.io', 'scheduling.orch.io',
  'coordination.orch.io', 'node.orch.io', 'discovery.orch.io', 'flowcontrol.apiserver.orch.io', 'internal.apiserver.orch.io'
]

/** Exceptions to the version order (most stable first, then the highest), kept for client compatibility. */
const PREFERRED: Readonly<Record<string, readonly string[]>> = { autoscaling: ['v2', 'v1', 'v2beta1', 'v2beta2'] }

/** `v1` of the core group, `apps/v1`. */
export const apiVersionOf = (group: string, version: string): string => group === '' ? version : `${group}/${version}`

/** Stability levels, the most stable first. */
export const STAGES = ['ga', 'beta', 'alpha'] as const

export const stageOf = (apiVersion: string): (typeof STAGES)[number] => apiVersion.includes('alpha') ? 'alpha' : apiVersion.includes('beta') ? 'beta' : 'ga'

/** Orders groups for discovery. */
export function compareGroups (one: string, other: string): number {
  const rank = (group: string): number => GROUPS.includes(group) ? GROUPS.indexOf(group) : GROUPS.length
  return rank(one) - rank(other) || (one < other ? -1 : one === other ? 0 : 1)
}

/** Orders the versions of a group, the preferred one first. */
export function compareVersions (group: string, one: string, other: string): number {
  const preferred = Object.hasOwn(PREFERRED, group) ? PREFERRED[group] ?? [] : []
  const rank = (version: string): number => preferred.includes(version) ? preferred.indexOf(version) : preferred.length
  return rank(one) - rank(other) || byStage(one, other)
}

/** `v10` before `v2` before `v1`, all of them before `v2beta2`, `v2beta1`, `v1beta3`, those before `v1alpha1`; other names last, by name. */
function byStage (one: string, other: string): number {
  const [first, second] = [one, other].map(version => /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version))
  if (first == null || second == null) return first != null ? -1 : second != null ? 1 : one < other ? -1 : Number(one > other)
  const stage = ([, , name]: readonly string[]): number => name === undefined ? 0 : name === 'beta' ? 1 : 2
  return stage(first) - stage(second) || Number(second[1]) - Number(first[1]) || Number(second[3] ?? 0) - Number(first[3] ?? 0)
}
