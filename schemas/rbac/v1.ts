/** rbac.authorization.orch.io/v1: roles say what may be done, bindings to whom it is granted. */
import { apiPackage, list, one, string } from '../declare.js'
import type { Static } from '../declare.js'
import { LabelSelector } from '../meta/options.js'
import { ObjectMeta } from '../meta/object.js'
import { validateClusterRole, validateRole, validateRoleRef, validateRoleRefUpdate, validateSubject } from './validation.js'

export const RBAC_GROUP = 'rbac.authorization.orch.io'

const { message, kind } = apiPackage(RBAC_GROUP, 'v1', 'io.orch.api.rbac.v1')
const metadata = one(1, 'Standard object metadata.', ObjectMeta)

export type PolicyRule = Static<typeof PolicyRule>
export const PolicyRule = message('PolicyRule', 'What may be done with which resources, or with which URLs.', {
  verbs: list(1, 'What may be done; * is everything.', 'string', { required: true }),
  apiGroups: list(2, 'Groups of the resources; "" is the core group, * all.', 'string'),
  resources: list(3, 'Resources, or resource/subresource; * is all.', 'string'),
  resourceNames: list(4, 'Only the objects of these names; empty for all.', 'string'),
  nonResourceURLs: list(5, 'Paths that are no resources, in place of groups and resources; a trailing * stands for any rest.', 'string')
})

export type Subject = Static<typeof Subject>
export const Subject = message('Subject', 'Who a binding grants to.', {
  kind: string(1, 'User, Group or ServiceAccount.', { required: true }),
  apiGroup: string(2, 'Group of the subject; by default empty for a ServiceAccount, rbac.authorization.orch.io for the others.'),
  name: string(3, 'Name of the subject.', { required: true }),
  namespace: string(4, 'Namespace of a ServiceAccount; has no meaning for the others.')
}, {
  structType: 'atomic',
  defaults: subject => { if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = RBAC_GROUP },
  validate: (subject, at, report) => validateSubject(subject, at, report)
})

export type RoleRef = Static<typeof RoleRef>
export const RoleRef = message('RoleRef', 'The role a binding grants.', {
  apiGroup: string(1, 'Group of the role.', { required: true }),
  kind: string(2, 'ClusterRole, or Role in a RoleBinding.', { required: true }),
  name: string(3, 'Name of the role.', { required: true })
}, {
  structType: 'atomic',
  validate: (ref, at, report) => validateRoleRef(ref, at, report),
  validateUpdate: (ref, old, at, report) => validateRoleRefUpdate(ref, old, at, report)
})

const subjects = list(2, 'Who the role is granted to.', Subject)

export type ClusterRoleBinding = Static<typeof ClusterRoleBinding>
export const ClusterRoleBinding = kind('ClusterRoleBinding', 'Grants a ClusterRole everywhere to its subjects.', {
  metadata,
  subjects,
  roleRef: one(3, 'The ClusterRole that is granted; can never be changed.', RoleRef, { required: true, immutable: 'ruled' })
}, {
  validate: (binding, at, report) => {
    if (binding.roleRef.kind === 'Role') {
      report({ type: 'FieldValueNotSupported', field: 'roleRef.kind', value: 'Role', detail: 'supported values: "ClusterRole"' })
    }
  }
})

export type RoleBinding = Static<typeof RoleBinding>
export const RoleBinding = kind('RoleBinding', 'Grants a Role, or a ClusterRole within one namespace, to its subjects.', {
  metadata,
  subjects,
  roleRef: one(3, 'The Role of the same namespace, or the ClusterRole, that is granted; can never be changed.', RoleRef, { required: true, immutable: 'ruled' })
})

export type AggregationRule = Static<typeof AggregationRule>
export const AggregationRule = message('AggregationRule', 'How the rules of a ClusterRole are gathered from others.', {
  clusterRoleSelectors: list(1, 'Which ClusterRoles are gathered: those that any of these selectors matches.', LabelSelector)
})

const rules = list(2, 'What is allowed.', PolicyRule, { written: true })

export type ClusterRole = Static<typeof ClusterRole>
export const ClusterRole = kind('ClusterRole', 'Rules that can be granted in any namespace, or for the whole cluster.', {
  metadata,
  rules,
  aggregationRule: one(3, 'Has the rules filled in from other ClusterRoles.', AggregationRule, { pointer: true })
}, { validate: (role, at, report) => validateClusterRole(role, report) })

export type Role = Static<typeof Role>
export const Role = kind('Role', 'Rules that can be granted within its namespace.', { metadata, rules }, { validate: (role, at, report) => validateRole(role, report) })
