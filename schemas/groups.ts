/**
 * The API groups and versions of the release that is spoken, whether or not anything of them is served here: in the
 * order of discovery, versions by preference. What is served follows from the resource types.
 */
export interface GroupFacts {
  readonly name: string
  readonly versions: readonly string[]
}

export const GROUPS: readonly GroupFacts[] = [
  { name: 'apiregistration.orch.io', versions: ['v1'] },
  { name: '', versions: ['v1'] },
  { name: 'apps', versions: ['v1'] },
  { name: 'events.orch.io', versions: ['v1', 'v1beta1'] },
  { name: 'authentication.orch.io', versions: ['v1'] },
  { name: 'authorization.orch.io', versions: ['v1'] },
  { name: 'autoscaling', versions: ['v2', 'v1', 'v2beta1', 'v2beta2'] },
  { name: 'batch', versions: ['v1', 'v1beta1'] },
  { name: 'certificates.orch.io', versions: ['v1'] },
  { name: 'networking.orch.io', versions: ['v1'] },
  { name: 'policy', versions: ['v1', 'v1beta1'] },
  { name: 'rbac.authorization.orch.io', versions: ['v1'] },
  { name: 'storage.orch.io', versions: ['v1', 'v1beta1'] },
  { name: 'admissionregistration.orch.io', versions: ['v1'] },
  { name: 'apiextensions.orch.io', versions: ['v1'] },
  { name: 'scheduling.orch.io', versions: ['v1'] },
  { name: 'coordination.orch.io', versions: ['v1'] },
  { name: 'node.orch.io', versions: ['v1', 'v1beta1'] },
  { name: 'discovery.orch.io', versions: ['v1', 'v1beta1'] },
  { name: 'flowcontrol.apiserver.orch.io', versions: ['v1beta2', 'v1beta1'] },
  { name: 'internal.apiserver.orch.io', versions: ['v1alpha1'] }
]

/** `v1` of the core group, `apps/v1`. */
export const apiVersionOf = (group: string, version: string): string => group === '' ? version : `${group}/${version}`

/** Every version of the release, as objects name it. */
export const RELEASED: readonly string[] = GROUPS.flatMap(({ name, versions }) => versions.map(version => apiVersionOf(name, version)))

/** How settled a version is. */
export const STAGES = ['ga', 'beta', 'alpha'] as const

export const stageOf = (apiVersion: string): (typeof STAGES)[number] => apiVersion.includes('alpha') ? 'alpha' : apiVersion.includes('beta') ? 'beta' : 'ga'

/** What is served only where it is asked for. */
export const OFF_BY_DEFAULT: readonly string[] = RELEASED.filter(apiVersion => stageOf(apiVersion) === 'alpha')

/** Where a group stands among others in discovery; those of types defined at run time come last, by name. */
export function compareGroups (one: string, other: string): number {
  const [first, second] = [one, other].map(name => GROUPS.findIndex(group => group.name === name))
  const rank = (at: number | undefined): number => at === undefined || at < 0 ? GROUPS.length : at
  return rank(first) - rank(second) || (one < other ? -1 : one === other ? 0 : 1)
}

/** The same of the versions of one group. */
export function compareVersions (group: string, one: string, other: string): number {
  const versions = GROUPS.find(({ name }) => name === group)?.versions ?? []
  const rank = (version: string): number => versions.includes(version) ? versions.indexOf(version) : versions.length
  return rank(one) - rank(other)
}
