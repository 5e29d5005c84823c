/** What rules of roles allow, and whether some of them are all that others allow. */
import type { RequestInfo } from '../request-info.js'
import type { PolicyRule } from '../../schemas/api/rbac/rules.js'

export type Rule = PolicyRule

const ALL = '*'

const names = (list: readonly string[] | undefined, wanted: string): boolean => list !== undefined && (list.includes(wanted) || list.includes(ALL))

/** `pods`, `pods/log`, `*`; `*` followed by `/log` is that subresource of everything. */
function namesResource (list: readonly string[] | undefined, resource: string, subresource: string): boolean {
  if (list === undefined) return false
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  return list.some(one => one === ALL || one === whole || (subresource !== '' && one === `*/${subresource}`))
}

/** A path itself, or with stars at the end all that begin so; of two such patterns whether all that the other stands for is within. */
const namesPath = (list: readonly string[] | undefined, path: string): boolean =>
  list !== undefined && list.some(one => one === ALL || one === path || (one.endsWith(ALL) && path.startsWith(withoutStars(one))))

function withoutStars (pattern: string): string {
  let end = pattern.length
  while (pattern[end - 1] === ALL) end--
  return pattern.slice(0, end)
}

export function ruleAllows (rule: Rule, info: RequestInfo): boolean {
  if (!names(rule.verbs, info.verb)) return false
  if (!info.isResourceRequest) return namesPath(rule.nonResourceURLs, info.path)
  return names(rule.apiGroups, info.group) && namesResource(rule.resources, info.resource, info.subresource) &&
    (rule.resourceNames === undefined || rule.resourceNames.length === 0 || (info.name !== '' && rule.resourceNames.includes(info.name)))
}

/** A rule about one verb, and one resource of one group and name, or one path. */
type Single = Rule

/** The most single rules that are looked at: more is refused as too many. */
const MOST_SINGLE = 20_000
/** The most that single rules and those they are looked for in come to, multiplied: some 50 ms. */
const MOST_COMPARED = 2_000_000

/** @throws RangeError when there are too many */
function singles (rules: readonly Rule[]): Single[] {
  const made: Single[] = []
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
    const size = verbs.length * (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length)
    if (made.length + size > MOST_SINGLE) throw new RangeError(`the rules stand for more than ${MOST_SINGLE} single permissions`)
    for (const verb of verbs) {
      for (const group of apiGroups) {
        for (const resource of resources) {
          if (resourceNames.length === 0) made.push({ verbs: [verb], apiGroups: [group], resources: [resource] })
          else for (const name of resourceNames) made.push({ verbs: [verb], apiGroups: [group], resources: [resource], resourceNames: [name] })
        }
      }
      for (const url of nonResourceURLs) made.push({ verbs: [verb], nonResourceURLs: [url] })
    }
  }
  return made
}

function covers (owner: Rule, { verbs: [verb = ''] = [], apiGroups: [group] = [], resources: [resource = ''] = [], resourceNames: [name] = [], nonResourceURLs: [url] = [] }: Single): boolean {
  if (!names(owner.verbs, verb)) return false
  if (url !== undefined) return namesPath(owner.nonResourceURLs, url)
  if (group === undefined || !names(owner.apiGroups, group)) return false
  const slash = resource.indexOf('/')
  const [plural, subresource] = slash < 0 ? [resource, ''] : [resource.slice(0, slash), resource.slice(slash + 1)]
  if (!namesResource(owner.resources, plural, subresource)) return false
  return owner.resourceNames === undefined || owner.resourceNames.length === 0 || (name !== undefined && owner.resourceNames.includes(name))
}

/** Of what `wanted` allows, all that nothing of `owned` does. @throws RangeError when there is too much to look at */
export function uncovered (owned: readonly Rule[], wanted: readonly Rule[]): Rule[] {
  const asked = singles(wanted)
  if (asked.length * owned.length > MOST_COMPARED) throw new RangeError(`the rules stand for ${asked.length} single permissions, to be looked for in ${owned.length} rules`)
  return compact(asked.filter(single => !owned.some(owner => covers(owner, single))))
}

/** Rules that differ in their verb alone, as one. */
function compact (rules: readonly Single[]): Rule[] {
  const byRest = new Map<string, Rule>()
  for (const { verbs, ...rest } of rules) {
    const key = JSON.stringify(rest)
    const known = byRest.get(key)
    if (known === undefined) byRest.set(key, { ...rest, verbs: [...verbs ?? []] })
    else known.verbs?.push(...verbs ?? [])
  }
  return [...byRest.values()]
}

/** For people: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
export function ruleText ({ verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: Rule): string {
  const parts = [['APIGroups', apiGroups], ['Resources', resources], ['ResourceNames', resourceNames], ['NonResourceURLs', nonResourceURLs], ['Verbs', verbs]] as const
  return `{${parts.filter(([, list]) => list.length > 0).map(([name, list]) => `${name}:${JSON.stringify(list)}`).join(', ')}}`
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
