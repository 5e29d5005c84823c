/** Operation IDs and tags, from which generators name methods: `listCoreV1NamespacedPod`, `core_v1`. */
import { apiVersionOf } from '../groups.js'

export interface GroupVersion { readonly group: string, readonly version: string }

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const names = new Map<string, string>()

/** `rbacAuthorization` of rbac.authorization.orch.io, `core` of the core group. */
export function groupName (group: string): string {
  let name = names.get(group)
  if (name === undefined) names.set(group, name = group === '' ? 'core' : camelCase(group.replace(/\.orch\.io$/, '')))
  return name
}

const camelCase = (domain: string): string =>
  domain.split('.').map((part, index) => index === 0 ? part : capitalize(part)).join('')

/** `/apis/apps/v1`. */
export const rootOf = (group: string, version: string): string =>
  `/${group === '' ? 'api' : 'apis'}/${apiVersionOf(group, version)}`

export const tagOf = ({ group, version }: GroupVersion): string => `${groupName(group)}_${version}`

/**
 * What an operation applies to. `infix` is `Collection` for deletecollection, or the method of a connection; `suffix`
 * is the subresource.
 */
export interface Subject {
  readonly infix?: string, readonly namespaced: boolean, readonly kind: string, readonly suffix: string
}

export function operationId (
  { group, version }: GroupVersion, verb: string, { infix = '', namespaced, kind, suffix }: Subject
): string {
  return `${verb}${capitalize(groupName(group))}${capitalize(version)}${infix}${namespaced ? 'Namespaced' : ''}` +
    `${kind}${suffix}`
}

export function groupVersions (resources: readonly GroupVersion[]): GroupVersion[] {
  return [
    ...new Map(resources.map(({ group, version }) => [apiVersionOf(group, version), { group, version }])).values()
  ]
}
