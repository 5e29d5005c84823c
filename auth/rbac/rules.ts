/** Evaluates role rules, and compares the permissions of two sets of rules. */
import type { RequestInfo } from '../request-info.js'
import type { PolicyRule } from '../../schemas/api/rbac/rules.js'

export type Rule = PolicyRule

const ALL = '*'

const names = (list: readonly string[] | undefined, requested: string): boolean => list !== undefined &&
  (list.includes(requested) || list.includes(ALL))

/** `pods`, `pods/log`, `*`; a star before `/log` means that subresource of every resource. */
function namesResource (list: readonly string[] | undefined, resource: string, subresource: string): boolean {
  if (list === undefined) return false
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  return list.some(listed => listed === ALL || listed === whole ||
    (subresource !== '' && listed === `*/${subresource}`))
}

/** Matches a path exactly or by a prefix that ends in stars. Also tests whether one pattern covers another. */
const namesPath = (list: readonly string[] | undefined, path: string): boolean =>
  list !== undefined &&
    list.some(pattern => pattern === ALL || pattern === path ||
      (pattern.endsWith(ALL) && path.startsWith(withoutStars(pattern))))

function withoutStars (pattern: string): string {
  let end = pattern.length
  while (pattern[end - 1] === ALL) end--
  return pattern.slice(0, end)
}

/** Without repetitions, in the rules and in their lists: a role may hold thousands, which every decision would read. */
export function distinctRules (rules: readonly Rule[]): readonly Rule[] {
  const byText = new Map<string, Rule>()
  for (const rule of rules) {
    const distinct: Rule = { ...rule }
    for (const list of LISTS) {
      const values = rule[list]
      if (values !== undefined && values.length > 1) distinct[list] = [...new Set(values)]
    }
    const text = JSON.stringify(LISTS.map(list => [...distinct[list] ?? []].sort()))
    if (!byText.has(text)) byText.set(text, distinct)
  }
  return [...byText.values()]
}

const LISTS = ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const

/** How many values a decision may have to read. */
export const sizeOf = (rule: Rule): number => LISTS.reduce((sum, list) => sum + (rule[list]?.length ?? 0), 1)

/** Allows the request if it were about an object of the right name. */
function concerns (rule: Rule, info: RequestInfo): boolean {
  if (!names(rule.verbs, info.verb)) return false
  if (!info.isResourceRequest) return namesPath(rule.nonResourceURLs, info.path)
  return names(rule.apiGroups, info.group) && namesResource(rule.resources, info.resource, info.subresource)
}

const isOfNames = ({ resourceNames = [] }: Rule, { isResourceRequest }: RequestInfo): boolean =>
  isResourceRequest && resourceNames.length > 0

/** The empty name stands for requests without one, such as a create or a list. */
export const ruleAllows = (rule: Rule, info: RequestInfo): boolean => concerns(rule, info) &&
  (!isOfNames(rule, info) || rule.resourceNames?.includes(info.name) === true)

/** Whether it allows the request for objects of some names only. */
export const dependsOnName = (rule: Rule, info: RequestInfo): boolean => isOfNames(rule, info) && concerns(rule, info)

/** A rule with one verb, and one group, resource and name or one path. */
type Single = Rule

/** Maximum number of single rules; more are refused. */
const MAX_SINGLE = 20_000
/** Maximum number of comparisons, about 50 ms. */
const MAX_COMPARISONS = 2_000_000

/** @throws RangeError if there are too many */
function singles (rules: readonly Rule[]): Single[] {
  const permissions: Single[] = []
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
    const size = verbs.length *
      (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length)
    if (permissions.length + size > MAX_SINGLE) {
      throw new RangeError(`the rules stand for more than ${MAX_SINGLE} single permissions`)
    }
    for (const verb of verbs) {
      for (const group of apiGroups) {
        for (const resource of resources) {
          if (resourceNames.length === 0) permissions.push({ verbs: [verb], apiGroups: [group], resources: [resource] })
          else {
            for (const name of resourceNames) {
              permissions.push({ verbs: [verb], apiGroups: [group], resources: [resource], resourceNames: [name] })
            }
          }
        }
      }
      for (const url of nonResourceURLs) permissions.push({ verbs: [verb], nonResourceURLs: [url] })
    }
  }
  return permissions
}

function covers (
  owner: Rule,
  {
    verbs: [verb = ''] = [], apiGroups: [
      group
    ] = [], resources: [resource = ''] = [], resourceNames: [name] = [], nonResourceURLs: [url] = []
  }: Single
): boolean {
  if (!names(owner.verbs, verb)) return false
  if (url !== undefined) return namesPath(owner.nonResourceURLs, url)
  if (group === undefined || !names(owner.apiGroups, group)) return false
  const slash = resource.indexOf('/')
  const [plural, subresource] = slash < 0 ? [resource, ''] : [resource.slice(0, slash), resource.slice(slash + 1)]
  if (!namesResource(owner.resources, plural, subresource)) return false
  return owner.resourceNames === undefined || owner.resourceNames.length === 0 ||
    (name !== undefined && owner.resourceNames.includes(name))
}

/** The permissions of `requested` that `owned` does not cover. @throws RangeError if there are too many to compare */
export function uncovered (owned: readonly Rule[], requested: readonly Rule[]): Rule[] {
  const requestedSingles = singles(requested)
  if (requestedSingles.length * owned.length > MAX_COMPARISONS) {
    throw new RangeError(
      `the rules stand for ${requestedSingles.length} single permissions, to be looked for in ${owned.length} rules`
    )
  }
  return compact(requestedSingles.filter(single => !owned.some(owner => covers(owner, single))))
}

/** Merges rules that differ only in their verbs. */
function compact (rules: readonly Single[]): Rule[] {
  const byRest = new Map<string, Rule>()
  for (const { verbs, ...rest } of rules) {
    const key = JSON.stringify(rest)
    const existing = byRest.get(key)
    if (existing === undefined) byRest.set(key, { ...rest, verbs: [...verbs ?? []] })
    else existing.verbs?.push(...verbs ?? [])
  }
  return [...byRest.values()]
}

/** For messages: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
export function ruleText (
  { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: Rule
): string {
  const parts = [['APIGroups', apiGroups], ['Resources', resources], [
    'ResourceNames', resourceNames
  ], ['NonResourceURLs', nonResourceURLs], ['Verbs', verbs]] as const
  return `{${parts.filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}:${JSON.stringify(list)}`)
    .join(', ')}}`
}

/** Parses a rule of the default roles, `VERBS|GROUPS|RESOURCES|NAMES` or `VERBS > PATHS`. */
export function parseRule (text: string): Rule {
  const [verbs = '', paths] = text.split(' > ')
  if (paths !== undefined) return { verbs: verbs.split(','), nonResourceURLs: paths.split(',') }
  const [first = '', groups = '', resources = '', names] = text.split('|')
  return {
    verbs: first.split(','),
    apiGroups: groups.split(',').map(group => group === 'core' ? '' : group),
    resources: resources.split(','),
    ...(names === undefined ? {} : { resourceNames: names.split(',') })
  }
}
