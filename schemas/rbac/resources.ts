/** The resources of rbac.authorization.orch.io/v1. Names of its objects may be anything a path segment may be. */
import { resource } from '../resource.js'
import type { Column } from '../resource.js'
import { age, name } from '../columns.js'
import { pathSegment } from '../names.js'
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from './v1.js'
import type { Subject } from './v1.js'

const common = { createOnUpdate: true, nameRule: pathSegment } as const

type Binding = ClusterRoleBinding | RoleBinding
const subjectsOf = (kind: string, show: (subject: Subject) => string) => ({ subjects }: Binding) =>
  (subjects ?? []).filter(subject => subject.kind === kind).map(show).join(', ')

const bindingColumns: ReadonlyArray<Column<Binding>> = [
  name,
  { name: 'Role', type: 'string', format: '', text: 'The role that is granted.', priority: 0, cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}` },
  age,
  { name: 'Users', type: 'string', format: '', text: 'Users it is granted to.', priority: 1, cell: subjectsOf('User', subject => subject.name) },
  { name: 'Groups', type: 'string', format: '', text: 'Groups it is granted to.', priority: 1, cell: subjectsOf('Group', subject => subject.name) },
  { name: 'ServiceAccounts', type: 'string', format: '', text: 'Service accounts it is granted to.', priority: 1, cell: subjectsOf('ServiceAccount', subject => `${subject.namespace ?? ''}/${subject.name}`) }
]

export const clusterRoleBindings = resource(ClusterRoleBinding, { ...common, plural: 'clusterrolebindings', namespaced: false, columns: bindingColumns })
export const clusterRoles = resource(ClusterRole, { ...common, plural: 'clusterroles', namespaced: false })
export const roleBindings = resource(RoleBinding, { ...common, plural: 'rolebindings', namespaced: true, columns: bindingColumns })
export const roles = resource(Role, { ...common, plural: 'roles', namespaced: true })
