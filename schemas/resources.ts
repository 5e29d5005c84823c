/** Every built-in resource type. What the server serves is this list, and nothing else in the house names one. */
import type { ResourceDefinition } from './resource.js'
import { configMaps, namespaces, secrets, serviceAccounts } from './core/resources.js'
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from './rbac/resources.js'

export { configMaps, namespaces, secrets, serviceAccounts, clusterRoleBindings, clusterRoles, roleBindings, roles }

export const resources: readonly ResourceDefinition[] = [
  configMaps, namespaces, secrets, serviceAccounts,
  clusterRoleBindings, clusterRoles, roleBindings, roles
]

/** The built-in type of that name, if there is one. */
export function findResource (group: string, version: string, plural: string): ResourceDefinition | undefined {
  return resources.find(resource => resource.group === group && resource.version === version && resource.plural === plural)
}
