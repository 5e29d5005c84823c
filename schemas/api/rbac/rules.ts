/** Rules of both kinds of roles. */
import { list, type Report, type Static } from '../../language/declare.js'
import { message } from './package.js'
import { invalid, required } from '../../rules/findings.js'

export type PolicyRule = Static<typeof PolicyRule>
export const PolicyRule = message('PolicyRule', 'What may be done with which resources, or with which URLs.', {
  verbs: list(1, 'What may be done; * is everything.', 'string', { required: true }),
  apiGroups: list(2, 'Groups of the resources; "" is the core group, * all.', 'string'),
  resources: list(3, 'Resources, or resource/subresource; * is all.', 'string'),
  resourceNames: list(4, 'Only the objects of these names; empty for all.', 'string'),
  nonResourceURLs: list(
    5, 'Paths that are no resources, in place of groups and resources; a trailing * stands for any rest.', 'string'
  )
})

export const rules = list(2, 'What is allowed.', PolicyRule, { written: true })

/** A rule allows either resources or URLs; in a Role, only resources. */
export function validateRule (rule: PolicyRule, namespaced: boolean, at: string, report: Report): void {
  const none = (list: string[] | undefined) => list === undefined || list.length === 0
  if (none(rule.verbs)) required(report, `${at}.verbs`, 'verbs must contain at least one value')
  if (!none(rule.nonResourceURLs)) {
    if (namespaced) {
      invalid(
        report, `${at}.nonResourceURLs`, rule.nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'
      )
    }
    if (!none(rule.apiGroups) || !none(rule.resources) || !none(rule.resourceNames)) {
      invalid(
        report, `${at}.nonResourceURLs`, rule.nonResourceURLs,
        'rules cannot apply to both regular resources and non-resource URLs'
      )
    }
    return
  }
  if (none(rule.apiGroups)) required(report, `${at}.apiGroups`, 'resource rules must supply at least one api group')
  if (none(rule.resources)) required(report, `${at}.resources`, 'resource rules must supply at least one resource')
}
