/** Explains RBAC decisions for administrators: the rule that allows, or the rule that comes closest. */
import type { RequestInfo } from '../request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { Grant } from './grants.js'
import { ruleAllows, ruleText, type Rule } from './rules.js'

export interface Resolved {
  readonly grant: Grant
  /** Or why they cannot be resolved. */
  readonly rules: readonly Rule[] | string
}

/** Maximum number of unresolvable bindings to list. */
const MAX_NAMED = 5
/** Maximum number of rules to look for the nearest in, some 10 ms. */
const MAX_COMPARED = 20_000
const quoted = (text: string): string => JSON.stringify(text)

/** `ClusterRoleBinding "b" of ClusterRole "r" to User "u"`. */
export function grantText ({ binding, namespace, roleRef, subject }: Grant): string {
  const what = namespace === ''
    ? `ClusterRoleBinding ${quoted(binding)}`
    : `RoleBinding ${quoted(`${binding}/${namespace}`)}`
  const whom = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name
  return `${what} of ${roleRef.kind} ${quoted(roleRef.name)} to ${subject.kind} ${quoted(whom)}`
}

/** @param applicable grants for the request's namespace; `elsewhere` those of the user in other namespaces */
export function explanation (
  user: UserInfo, info: RequestInfo, applicable: readonly Resolved[], elsewhere: readonly Resolved[]
): string {
  for (const { grant, rules } of applicable) {
    const granting = typeof rules === 'string' ? undefined : rules.find(rule => ruleAllows(rule, info))
    if (granting !== undefined) return `allowed by ${grantText(grant)}, by the rule ${ruleText(granting)}`
  }
  const looked = applicable.length + elsewhere.length === 0
    ? `no binding names User ${quoted(user.username)} or one of the groups ${user.groups.map(quoted).join(', ')}`
    : `looked at ${countText(applicable, 'binding')} with ` +
      `${applicable.reduce((sum, { rules }) => sum + (typeof rules === 'string' ? 0 : rules.length), 0)} rules`
  const faults = applicable.flatMap(({ grant, rules }) =>
    typeof rules === 'string' ? [`${grantText(grant)} gives nothing: ${rules}`] : []).slice(0, MAX_NAMED)
  const closest = nearest(info, comparable(applicable), comparable(elsewhere))
  return ['no opinion', looked, ...faults, ...(closest === undefined ? [] : [`nearest is ${closest}`])].join('; ')
}

const countText = (list: readonly unknown[], what: string): string =>
  `${list.length} ${what}${list.length === 1 ? '' : 's'}`

/** The first grants, with as many rules as may be compared. */
function comparable (resolved: readonly Resolved[]): readonly Resolved[] {
  let left = MAX_COMPARED
  return resolved.filter(({ rules }) => typeof rules !== 'string' && (left -= rules.length) >= 0)
}

/** Describes a rule that fails in only one property. */
function nearest (
  info: RequestInfo, applicable: readonly Resolved[], elsewhere: readonly Resolved[]
): string | undefined {
  for (const { grant, rules } of elsewhere) {
    if (typeof rules === 'string' || !rules.some(rule => ruleAllows(rule, info))) continue
    return `${grantText(grant)}, which holds in the namespace ${quoted(grant.namespace)} and not ` +
      `${info.namespace === '' ? 'in all of them' : `in ${quoted(info.namespace)}`}`
  }
  for (const [lack, widened] of variants(info)) {
    for (const { grant, rules } of applicable) {
      const granting = typeof rules === 'string' ? undefined : rules.find(rule => ruleAllows(widened(rule), info))
      if (granting !== undefined) return `${grantText(grant)}, whose rule ${ruleText(granting)} lacks just ${lack}`
    }
  }
  return undefined
}

/** Each property a rule may lack, with a function that adds it. */
function variants (info: RequestInfo): Array<[string, (rule: Rule) => Rule]> {
  const verb: [string, (rule: Rule) => Rule] = [`the verb ${quoted(info.verb)}`, rule => ({ ...rule, verbs: ['*'] })]
  if (!info.isResourceRequest) {
    return [verb, [`the path ${quoted(info.path)}`, ({ nonResourceURLs = [], ...rule }) =>
      nonResourceURLs.length === 0 ? rule : { ...rule, nonResourceURLs: ['*'] }]]
  }
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  return [
    [info.name === ''
      ? 'that it names no objects: a rule with resource names does not allow requests for whole collections'
      : `the resource name ${quoted(info.name)}`, ({ resourceNames: _, ...rule }) => rule],
    verb,
    [`the resource ${quoted(resource)}`, rule =>
      (rule.resources ?? []).length === 0 ? rule : { ...rule, resources: ['*'] }],
    [`the API group ${quoted(info.group)}`, rule =>
      (rule.apiGroups ?? []).length === 0 ? rule : { ...rule, apiGroups: ['*'] }]
  ]
}
