/** RoleBinding (v1): grants a Role, or a ClusterRole within one namespace. */
import { one, type Static } from '../../language/declare.js'
import { resource } from '../../resource.js'
import { bindingColumns, RoleRef, subjects, validateRoleKind } from './bindings.js'
import { metadata } from '../../meta/object.js'
import { common, kind, RBAC_GROUP } from './package.js'

export type RoleBinding = Static<typeof RoleBinding>
export const RoleBinding =
  kind('RoleBinding', 'Grants a Role, or a ClusterRole within one namespace, to its subjects.', {
    metadata,
    subjects,
    roleRef: one(
      3, 'The Role of the same namespace, or the ClusterRole, that is granted; can never be changed.', RoleRef,
      { required: true, immutable: 'ruled' }
    )
  }, {
  // Not in a ClusterRoleBinding, where the group is required.
    defaults: ({ roleRef }) => { if (roleRef.apiGroup === '') roleRef.apiGroup = RBAC_GROUP },
    validate: ({ roleRef }, _at, report) => { validateRoleKind(roleRef, ['Role', 'ClusterRole'], report) }
  })

export const roleBindings = resource(RoleBinding, {
  ...common, plural: 'rolebindings', namespaced: true, columns: bindingColumns
})
