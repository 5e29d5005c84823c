/** ClusterRoleBinding (v1): grants a ClusterRole in the whole cluster. */
import { one, type Static } from '../../language/declare.js'
import { resource } from '../../resource.js'
import { bindingColumns, RoleRef, subjects, validateClusterSubjects, validateRoleKind } from './bindings.js'
import { metadata } from '../../meta/object.js'
import { common, kind } from './package.js'

export type ClusterRoleBinding = Static<typeof ClusterRoleBinding>
export const ClusterRoleBinding = kind('ClusterRoleBinding', 'Grants a ClusterRole everywhere to its subjects.', {
  metadata,
  subjects,
  roleRef: one(3, 'The ClusterRole that is granted; can never be changed.', RoleRef, {
    required: true, immutable: 'ruled'
  })
}, {
  validate: (binding, at, report) => {
    validateClusterSubjects(binding.subjects ?? [], report)
    validateRoleKind(binding.roleRef, ['ClusterRole'], report)
  }
})

export const clusterRoleBindings = resource(ClusterRoleBinding, {
  ...common, plural: 'clusterrolebindings', namespaced: false, columns: bindingColumns
})
