/**
 * The audit policy: which requests are audited, at which level. The first matching rule decides; a request that matches
 * none is not audited.
 *
 * @see interface, 'Audit events', `--audit-policy-file`
 */
import { one, bool, string, list, apiPackage, type Report, type Static } from '../../language/declare.js'
import { invalid, checkName, notSupported, required } from '../../rules/findings.js'
import { dnsSubdomain } from '../../names.js'
import { ObjectMeta } from '../../meta/object.js'

export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const

export type Level = (typeof LEVELS)[number]
export type Stage = (typeof STAGES)[number]

const { message, kind } = apiPackage('audit.orch.io', 'v1', 'io.orch.apiserver.audit.v1')

const GroupResources = message('GroupResources', 'Resources of one API group.', {
  group: string(1, 'The group; empty for the core group, * for every group.'),
  resources: list(2, 'Resources, resource/subresource, resource/* or */subresource; * is all of the group.', 'string'),
  resourceNames: list(3, 'Names of objects; empty for all.', 'string')
})

const PolicyRule =
  message('PolicyRule', 'Which requests are recorded at a level. Everything that is given must match.', {
    level: string(1, 'How much is recorded: None, Metadata, Request or RequestResponse.'),
    users: list(2, 'Names of users.', 'string'),
    userGroups: list(3, 'Groups, of which the user has one.', 'string'),
    verbs: list(4, 'Verbs.', 'string'),
    resources: list(5, 'Resources; empty for all.', GroupResources),
    namespaces: list(6, 'Namespaces; an empty one is that of resources that have none.', 'string'),
    nonResourceURLs: list(7, 'Paths that are no resources; a trailing * stands for any rest.', 'string'),
    omitStages: list(8, 'Stages that leave no event.', 'string'),
    omitManagedFields: bool(
      9, 'Whether objects are recorded without managedFields, in place of what the policy says.', { pointer: true }
    )
  })

export type AuditPolicy = Static<typeof AuditPolicy>
export type AuditRule = Static<typeof PolicyRule>
export const AuditPolicy = kind('Policy', 'Which requests are recorded, and how much of them.', {
  metadata: one(1, 'Says nothing.', ObjectMeta),
  rules: list(2, 'Rules, tried in order.', PolicyRule),
  omitStages: list(3, 'Stages that leave no event, whatever the rule.', 'string'),
  omitManagedFields: bool(4, 'Whether objects are recorded without managedFields.')
}, { validate: (policy, at, report) => { validatePolicy(policy, at, report) } })

function validatePolicy ({ rules = [], omitStages }: AuditPolicy, at: string, report: Report): void {
  const path = (field: string): string => at === '' ? field : `${at}.${field}`
  if (rules.length === 0) {
    required(report, path('rules'), 'a policy without rules would record nothing; leave the flag out instead')
  }
  checkStages(omitStages, path('omitStages'), report)
  for (const [index, rule] of rules.entries()) validateRule(rule, path(`rules[${index}]`), report)
}

function validateRule (
  { level = '', resources = [], namespaces = [], nonResourceURLs = [], omitStages }: AuditRule, at: string,
  report: Report
): void {
  if (level === '') required(report, `${at}.level`, `one of ${LEVELS.join(', ')}`)
  else if (!LEVELS.some(known => known === level)) notSupported(report, `${at}.level`, level, LEVELS)
  for (const [index, { group = '', resources: names = [], resourceNames = [] }] of resources.entries()) {
    const field = `${at}.resources[${index}]`
    if (group.includes('/')) invalid(report, `${field}.group`, group, 'is the name of a group without a version')
    else if (group !== '' && group !== '*') checkName(report, `${field}.group`, group, dnsSubdomain)
    if (resourceNames.length > 0 && names.length === 0) {
      required(report, `${field}.resources`, 'names of objects need at least one resource')
    }
  }
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    invalid(
      report, `${at}.nonResourceURLs`, nonResourceURLs,
      'rules cannot apply to both regular resources and non-resource URLs'
    )
  }
  for (const [index, url] of nonResourceURLs.entries()) {
    if (url === '*') continue
    const field = `${at}.nonResourceURLs[${index}]`
    if (!url.startsWith('/')) invalid(report, field, url, 'non-resource URL rules must begin with a \'/\' character')
    if (url.slice(0, -1).includes('*')) {
      invalid(report, field, url, 'non-resource URL wildcards \'*\' must be the final character of the rule')
    }
  }
  checkStages(omitStages, `${at}.omitStages`, report)
}

function checkStages (stages: readonly string[] = [], at: string, report: Report): void {
  for (const [index, stage] of stages.entries()) {
    if (!STAGES.some(known => known === stage)) notSupported(report, `${at}[${index}]`, stage, STAGES)
  }
}
