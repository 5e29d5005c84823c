/**
 * What would allow a refused request: roles that exist, and the smallest rule. Its cost is bounded, as refusals may
 * come in floods.
 */
import type { RequestInfo } from '../request-info.js'
import { quote } from '../refusal.js'
import { ruleAllows, sizeOf, type Rule } from './rules.js'

/** Maximum number of roles to name. */
const MAX_NAMED = 3
/** Maximum number of rules and their members to look at, about 0.3 ms. */
const MAX_EXAMINED = 10_000

/** Roles of one kind by name. */
export interface Candidates {
  readonly kind: 'ClusterRole' | 'Role', readonly roles: Iterable<readonly [name: string, rules: readonly Rule[]]>
}

interface Found { readonly text: string, readonly rank: number }

/** `it would be allowed by ClusterRole "view" if it were bound to this user, or by the rule {…}` */
export function advice (info: RequestInfo, candidates: readonly Candidates[]): string {
  const grants = candidates.flatMap(candidate => granting(info, candidate))
    .sort((one, other) => one.rank - other.rank).slice(0, MAX_NAMED).map(({ text }) => text)
  const roles = grants.length === 0
    ? ''
    : `${grants.length === 1 ? grants.join() : `${grants.slice(0, -1).join(', ')} or ${grants.at(-1)}`} ` +
      'if it were bound to this user, or by '
  return `it would be allowed by ${roles}the rule ${narrowest(info)}`
}

function granting (info: RequestInfo, { kind, roles }: Candidates): Found[] {
  const grants: Found[] = []
  let examined = 0
  for (const [name, rules] of roles) {
    for (const rule of rules) {
      examined += sizeOf(rule)
      if (examined > MAX_EXAMINED) return grants
      if (!ruleAllows(rule, info)) continue
      grants.push({ text: `${kind} ${quote(name)}`, rank: rankOf(name, rule, rules) })
      break
    }
    if (++examined > MAX_EXAMINED) break
  }
  return grants
}

/** Small roles first; those of the system, and those that allow everything, last. */
function rankOf (
  name: string, { verbs = [], resources = [], nonResourceURLs = [] }: Rule, rules: readonly Rule[]
): number {
  const isOpen = verbs.includes('*') || resources.includes('*') || nonResourceURLs.includes('*')
  return (isOpen ? 2e6 : 0) + (name.startsWith('system:') ? 1e6 : 0) + rules.length
}

/** The smallest rule that allows the request, in YAML for a role. */
function narrowest ({ isResourceRequest, verb, path, group, resource, subresource, name }: RequestInfo): string {
  const list = (text: string): string => `[${quote(text)}]`
  if (!isResourceRequest) return `{nonResourceURLs: ${list(path)}, verbs: ${list(verb)}}`
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  return `{apiGroups: ${list(group)}, resources: ${list(whole)}, ` +
    `${name === '' ? '' : `resourceNames: ${list(name)}, `}verbs: ${list(verb)}}`
}
