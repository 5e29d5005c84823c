/** ClusterRole (v1): rules that can be granted in one namespace, or in the whole cluster. */
import { one, list, type Report, type Static } from '../../language/declare.js'
import { LabelSelector } from '../../meta/options.js'
import { resource } from '../../resource.js'
import { isSelector, validateLabelSelector } from '../../selectors/objects.js'
import { metadata } from '../../meta/object.js'
import { common, kind, message } from './package.js'
import { rules, validateRule } from './rules.js'
import { invalid, required } from '../../rules/findings.js'

export type AggregationRule = Static<typeof AggregationRule>
export const AggregationRule = message('AggregationRule', 'How the rules of a ClusterRole are gathered from others.', {
  clusterRoleSelectors: list(
    1, 'Which ClusterRoles are gathered: those that any of these selectors matches.', LabelSelector
  )
})

export type ClusterRole = Static<typeof ClusterRole>
export const ClusterRole =
  kind('ClusterRole', 'Rules that can be granted in any namespace, or for the whole cluster.', {
    metadata,
    rules,
    aggregationRule: one(3, 'Has the rules filled in from other ClusterRoles.', AggregationRule, { pointer: true })
  }, { validate: (role, at, report) => validateClusterRole(role, report) })

function validateClusterRole (role: ClusterRole, report: Report): void {
  role.rules?.forEach((rule, index) => validateRule(rule, false, `rules[${index}]`, report))
  const { aggregationRule } = role
  if (aggregationRule === undefined) return
  const selectors = aggregationRule.clusterRoleSelectors ?? []
  if (selectors.length === 0) {
    required(
      report, 'aggregationRule.clusterRoleSelectors',
      'at least one clusterRoleSelector required if aggregationRule is set'
    )
  }
  selectors.forEach((selector, index) => {
    const at = `aggregationRule.clusterRoleSelectors[${index}]`
    validateLabelSelector(selector, at, report)
    // Also refuses values that no label can have. As upstream, the error has no value.
    if (!isSelector(selector)) invalid(report, at, null, 'invalid label selector.')
  })
}

export const clusterRoles = resource(ClusterRole, { ...common, plural: 'clusterroles', namespaced: false })
