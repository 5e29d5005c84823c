/** Compiles an audit policy. The first matching rule applies. */
import type { RequestInfo } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { AuditPolicy, AuditRule, Level, Stage } from '../../schemas/api/audit/policy.js'

export interface RequestAuditConfig {
  readonly level: Level
  /** Stages without events. */
  readonly omitStages: ReadonlySet<Stage>
  readonly omitManagedFields: boolean
}

export type PolicyRuleEvaluator = (user: UserInfo | undefined, info: RequestInfo) => RequestAuditConfig

/** In a rule, since release 1.36. */
const EVERY_GROUP = '*'

const NO_STAGES: ReadonlySet<Stage> = new Set()
const NOTHING: RequestAuditConfig = { level: 'None', omitStages: NO_STAGES, omitManagedFields: false }
const EVERYTHING: RequestAuditConfig = { level: 'Metadata', omitStages: NO_STAGES, omitManagedFields: false }

/** Without a policy, records the metadata of all requests. */
export function compilePolicy (policy: AuditPolicy | undefined): PolicyRuleEvaluator {
  if (policy === undefined) return () => EVERYTHING
  const { rules = [], omitStages = [], omitManagedFields = false } = policy
  const compiled = rules.map(rule => ({
    matches: compileRule(rule),
    // validated
    auditConfig: {
      level: rule.level as Level, omitStages: new Set([...omitStages, ...rule.omitStages ?? []] as Stage[]),
      omitManagedFields: rule.omitManagedFields ?? omitManagedFields
    }
  }))
  return (user, info) => {
    for (const { matches, auditConfig } of compiled) if (matches(user, info)) return auditConfig
    return NOTHING
  }
}

type Matches = (user: UserInfo | undefined, info: RequestInfo) => boolean

function compileRule (
  { users = [], userGroups = [], verbs = [], resources = [], namespaces = [], nonResourceURLs = [] }: AuditRule
): Matches {
  const parts: Matches[] = []
  if (verbs.length > 0) {
    const set = new Set(verbs)
    parts.push((_user, { verb }) => set.has(verb))
  }
  if (users.length > 0) {
    const set = new Set(users)
    parts.push(user => user !== undefined && set.has(user.username))
  }
  if (userGroups.length > 0) {
    const set = new Set(userGroups)
    parts.push(user => user?.groups.some(group => set.has(group)) === true)
  }
  if (namespaces.length > 0) {
    const set = new Set(namespaces)
    parts.push((_user, { isResourceRequest, namespace }) => isResourceRequest && set.has(namespace))
  }
  if (resources.length > 0) {
    const some = resources.map(compileResources)
    parts.push((user, info) => info.isResourceRequest && some.some(matches => matches(user, info)))
  } else if (namespaces.length === 0 && nonResourceURLs.length > 0) {
    parts.push((_user, { isResourceRequest, path }) => !isResourceRequest && nonResourceURLs.some(url => url === '*' ||
      url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)))))
  }
  return (user, info) => parts.every(part => part(user, info))
}

function compileResources (
  { group: ruleGroup = '', resources = [], resourceNames = [] }: NonNullable<AuditRule['resources']>[number]
): Matches {
  const names = new Set(resourceNames)
  const whole = new Set(resources)
  return (_user, { group, resource, subresource, name }) => {
    if (group !== ruleGroup && ruleGroup !== EVERY_GROUP) return false
    if (resources.length === 0) return true
    if (names.size > 0 && !names.has(name)) return false
    if (whole.has('*')) return true
    return subresource === ''
      ? whole.has(resource) || whole.has(`${resource}/*`)
      : whole.has(`${resource}/${subresource}`) || whole.has(`${resource}/*`) || whole.has(`*/${subresource}`)
  }
}
