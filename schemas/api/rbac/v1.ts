/** The public types of rbac.authorization.orch.io/v1. */
export { RoleRef, Subject } from './bindings.js'
export { ClusterRoleBinding } from './clusterrolebindings.js'
export { AggregationRule, ClusterRole } from './clusterroles.js'
export { RoleBinding } from './rolebindings.js'
export { Role } from './roles.js'
export { PolicyRule } from './rules.js'
