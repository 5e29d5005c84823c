/** The resources of rbac.authorization.orch.io: roles say what may be done, bindings to whom it is granted. */
import { clusterRoleBindings } from './clusterrolebindings.js'
import { clusterRoles } from './clusterroles.js'
import { roleBindings } from './rolebindings.js'
import { roles } from './roles.js'

export const rbac = [clusterRoleBindings, clusterRoles, roleBindings, roles]
