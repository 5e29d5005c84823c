/** The rules of rbac.authorization.orch.io/v1 that no field can state alone. Findings are reported, nothing throws. */
import type { Report } from '../declare.js'
import { dnsSubdomain, pathSegment } from '../names.js'
import { validateLabelSelector } from '../selectors/objects.js'
import type { ClusterRole, PolicyRule, Role, RoleRef, Subject } from './v1.js'

const GROUP = 'rbac.authorization.orch.io'

export function validateSubject (subject: Subject, at: string, report: Report): void {
  const groupMustBe = (group: string) => {
    if ((subject.apiGroup ?? '') === group) return
    report({ type: 'FieldValueNotSupported', field: `${at}.apiGroup`, value: subject.apiGroup ?? '', detail: `supported values: "${group}"` })
  }
  switch (subject.kind) {
    case 'ServiceAccount': {
      const why = subject.name === '' ? undefined : dnsSubdomain(subject.name)
      if (why !== undefined) report({ type: 'FieldValueInvalid', field: `${at}.name`, value: subject.name, detail: why })
      groupMustBe('')
      if (!subject.namespace) report({ type: 'FieldValueRequired', field: `${at}.namespace`, detail: '' })
      return
    }
    case 'User': case 'Group': groupMustBe(GROUP); return
    case '': return // reported as a missing field
    default:
      report({ type: 'FieldValueNotSupported', field: `${at}.kind`, value: subject.kind, detail: 'supported values: "Group", "ServiceAccount", "User"' })
  }
}

export function validateRoleRef (ref: RoleRef, at: string, report: Report): void {
  if (ref.apiGroup !== '' && ref.apiGroup !== GROUP) {
    report({ type: 'FieldValueNotSupported', field: `${at}.apiGroup`, value: ref.apiGroup, detail: `supported values: "${GROUP}"` })
  }
  if (ref.kind !== '' && ref.kind !== 'ClusterRole' && ref.kind !== 'Role') {
    report({ type: 'FieldValueNotSupported', field: `${at}.kind`, value: ref.kind, detail: 'supported values: "ClusterRole", "Role"' })
  }
  const why = pathSegment(ref.name)
  if (why !== undefined) report({ type: 'FieldValueInvalid', field: `${at}.name`, value: ref.name, detail: why })
}

export function validateRoleRefUpdate (ref: RoleRef, old: RoleRef, at: string, report: Report): void {
  if (ref.apiGroup === old.apiGroup && ref.kind === old.kind && ref.name === old.name) return
  report({ type: 'FieldValueInvalid', field: at, value: ref, detail: 'cannot change roleRef' })
}

function validateRule (rule: PolicyRule, namespaced: boolean, at: string, report: Report): void {
  const required = (field: string, detail: string) => report({ type: 'FieldValueRequired', field: `${at}.${field}`, detail })
  const none = (list: string[] | undefined) => list === undefined || list.length === 0
  if (none(rule.verbs)) required('verbs', 'verbs must contain at least one value')
  if (!none(rule.nonResourceURLs)) {
    if (namespaced) {
      report({ type: 'FieldValueInvalid', field: `${at}.nonResourceURLs`, value: rule.nonResourceURLs, detail: 'namespaced rules cannot apply to non-resource URLs' })
    }
    if (!none(rule.apiGroups) || !none(rule.resources) || !none(rule.resourceNames)) {
      report({ type: 'FieldValueInvalid', field: `${at}.nonResourceURLs`, value: rule.nonResourceURLs, detail: 'rules cannot apply to both regular resources and non-resource URLs' })
    }
    return
  }
  if (none(rule.apiGroups)) required('apiGroups', 'resource rules must supply at least one api group')
  if (none(rule.resources)) required('resources', 'resource rules must supply at least one resource')
}

export function validateRole (role: Role, report: Report): void {
  role.rules?.forEach((rule, index) => validateRule(rule, true, `rules[${index}]`, report))
}

export function validateClusterRole (role: ClusterRole, report: Report): void {
  role.rules?.forEach((rule, index) => validateRule(rule, false, `rules[${index}]`, report))
  const { aggregationRule } = role
  if (aggregationRule === undefined) return
  const selectors = aggregationRule.clusterRoleSelectors ?? []
  if (selectors.length === 0) {
    report({ type: 'FieldValueRequired', field: 'aggregationRule.clusterRoleSelectors', detail: 'must hold at least one selector with an aggregationRule' })
  }
  selectors.forEach((selector, index) => validateLabelSelector(selector, `aggregationRule.clusterRoleSelectors[${index}]`, report))
}
