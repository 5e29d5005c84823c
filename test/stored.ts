/** The stored representations by name, with the static types of their objects; for tests. */
import type { Message } from '../schemas/language/declare.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import type { Representation, ResourceType } from '../schemas/resource.js'
import { ConfigMap, configMaps as configMapType } from '../schemas/api/core/configmaps.js'
import { Namespace, namespaces as namespaceType } from '../schemas/api/core/namespaces.js'
import { Secret, secrets as secretType } from '../schemas/api/core/secrets.js'
import { ServiceAccount, serviceAccounts as serviceAccountType } from '../schemas/api/core/serviceaccounts.js'
import {
  ClusterRoleBinding, clusterRoleBindings as clusterRoleBindingType
} from '../schemas/api/rbac/clusterrolebindings.js'
import { ClusterRole, clusterRoles as clusterRoleType } from '../schemas/api/rbac/clusterroles.js'
import { RoleBinding, roleBindings as roleBindingType } from '../schemas/api/rbac/rolebindings.js'
import { Role, roles as roleType } from '../schemas/api/rbac/roles.js'

const stored = <T extends ApiObject>({ stored }: ResourceType, _message: Message<T>): Representation<T> =>
  stored as Representation<ApiObject> as Representation<T>

export const configMaps = stored(configMapType, ConfigMap)
export const namespaces = stored(namespaceType, Namespace)
export const secrets = stored(secretType, Secret)
export const serviceAccounts = stored(serviceAccountType, ServiceAccount)
export const clusterRoleBindings = stored(clusterRoleBindingType, ClusterRoleBinding)
export const clusterRoles = stored(clusterRoleType, ClusterRole)
export const roleBindings = stored(roleBindingType, RoleBinding)
export const roles = stored(roleType, Role)
