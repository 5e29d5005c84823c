/** Validation of FlowSchemas. */
import type { Report } from '../../../language/types.js'
import { dnsLabel, dnsSubdomain, type NameRule } from '../../../names.js'
import {
  duplicate, forbidden, invalid, checkName, notSupported, required, requiredName
} from '../../../rules/findings.js'
import type {
  FlowSchema, FlowSchemaSpec, NonResourcePolicyRule, PolicyRulesWithSubjects, ResourcePolicyRule, Subject
} from '../v1beta1.js'

const MAX_PRECEDENCE = 10_000
const METHODS = ['ByNamespace', 'ByUser']
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const SUBJECTS = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' } as const
/** In the order of errors about superfluous fields. */
const FIELDS = [['ServiceAccount', 'serviceAccount'], ['User', 'user'], ['Group', 'group']] as const
const ALL = '*'
const EXEMPT = 'exempt'

export function validateFlowSchema ({ metadata: { name = '' }, spec }: FlowSchema, report: Report): void {
  const { matchingPrecedence: precedence = 0, distinguisherMethod, priorityLevelConfiguration: level, rules = [] } =
    spec
  const at = 'spec.matchingPrecedence'
  if (precedence <= 0) invalid(report, at, precedence, 'must be a positive value')
  if (precedence > MAX_PRECEDENCE) invalid(report, at, precedence, `must not be greater than ${MAX_PRECEDENCE}`)
  if (precedence === 1 && name !== EXEMPT) {
    invalid(report, at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
  }
  if (distinguisherMethod !== undefined && !METHODS.includes(distinguisherMethod.type)) {
    notSupported(report, 'spec.distinguisherMethod.type', distinguisherMethod.type, METHODS)
  }
  requiredName(
    report, 'spec.priorityLevelConfiguration.name', level.name, dnsSubdomain, 'must reference a priority level'
  )
  for (const [index, rule] of rules.entries()) validateRule(rule, `spec.rules[${index}]`, report)
  validateMandatory(name, spec, report)
}

/** The specs of `exempt` and `catch-all` are fixed. */
function validateMandatory (name: string, spec: FlowSchemaSpec, report: Report): void {
  if (name !== EXEMPT && name !== 'catch-all') return
  const exempt = name === EXEMPT
  const wanted = exempt
    ? [1, EXEMPT, undefined, ['system:masters']]
    : [MAX_PRECEDENCE, 'catch-all', 'ByUser', ['system:unauthenticated', 'system:authenticated']]
  const [rule, ...others] = spec.rules ?? []
  const groups = (rule?.subjects ?? []).map(({ group }) => group?.name)
  const [resources, paths] = [rule?.resourceRules ?? [], rule?.nonResourceRules ?? []]
  const everything = [
    resources[0]?.verbs, resources[0]?.apiGroups, resources[0]?.resources, resources[0]?.namespaces, paths[0]?.verbs,
    paths[0]?.nonResourceURLs
  ]
    .every(list => list?.length === 1 && list[0] === ALL)
  const same = JSON.stringify([
    spec.matchingPrecedence, spec.priorityLevelConfiguration.name, spec.distinguisherMethod?.type, groups
  ]) === JSON
    .stringify(wanted)
  if (!same || others.length > 0 || resources.length !== 1 || paths.length !== 1 ||
    resources[0]?.clusterScope !== true || !everything) {
    invalid(report, 'spec', spec, `spec of '${name}' must equal the fixed value`)
  }
}

function validateRule (
  { subjects = [], resourceRules = [], nonResourceRules = [] }: PolicyRulesWithSubjects, at: string, report: Report
): void {
  if (subjects.length === 0) required(report, `${at}.subjects`, 'subjects must contain at least one value')
  for (const [index, subject] of subjects.entries()) validateSubject(subject, `${at}.subjects[${index}]`, report)
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    required(report, at, 'at least one of resourceRules and nonResourceRules has to be non-empty')
  }
  for (const [index, rule] of resourceRules.entries()) {
    validateResourceRule(rule, `${at}.resourceRules[${index}]`, report)
  }
  for (const [index, rule] of nonResourceRules.entries()) {
    validatePathRule(rule, `${at}.nonResourceRules[${index}]`, report)
  }
}

function validateSubject (subject: Subject, at: string, report: Report): void {
  const wanted = Object.hasOwn(SUBJECTS, subject.kind) ? SUBJECTS[subject.kind as keyof typeof SUBJECTS] : undefined
  if (wanted === undefined) return notSupported(report, `${at}.kind`, subject.kind, Object.keys(SUBJECTS))
  if (subject[wanted] ===
    undefined) required(report, `${at}.${wanted}`, `${wanted} is required when subject kind is '${subject.kind}'`)
  else if (wanted === 'serviceAccount' && subject.serviceAccount !== undefined) {
    validateAccount(subject.serviceAccount, `${at}.serviceAccount`, report)
  }
  for (const [kind, field] of FIELDS) {
    if (field !== wanted && subject[field] !== undefined) {
      forbidden(report, `${at}.${field}`, `${field} is forbidden when subject kind is not '${kind}'`)
    }
  }
}

function validateAccount (
  { name, namespace }: NonNullable<Subject['serviceAccount']>, at: string, report: Report
): void {
  if (name !== ALL) requiredName(report, `${at}.name`, name, dnsSubdomain)
  requiredName(report, `${at}.namespace`, namespace, dnsLabel, 'must specify namespace for service account')
}

/** At least one value; `*` excludes others. */
function validateList (
  values: readonly string[] | undefined, at: string, none: string, others: string, report: Report
): readonly string[] {
  const list = values ?? []
  if (list.length === 0) required(report, at, none)
  if (list.length > 1 && list.includes(ALL)) {
    invalid(report, at, list, `if '*' is present, must not specify other ${others}`)
  }
  return list.includes(ALL) ? [] : list
}

function validateVerbs (verbs: readonly string[] | undefined, at: string, report: Report): void {
  const list = validateList(verbs, at, 'verbs must contain at least one value', 'verbs', report)
  if (!list.every(verb => VERBS.includes(verb))) notSupported(report, at, list, VERBS)
}

const namespaceName: NameRule = name =>
  dnsLabel(name).map(detail => `each member of this list must be '*' or a DNS-1123 label; ${detail}`)

function validateResourceRule (
  { verbs, apiGroups, resources, namespaces = [], clusterScope }: ResourcePolicyRule, at: string, report: Report
): void {
  validateVerbs(verbs, `${at}.verbs`, report)
  validateList(apiGroups, `${at}.apiGroups`, 'resource rules must supply at least one api group', 'api groups', report)
  validateList(resources, `${at}.resources`, 'resource rules must supply at least one resource', 'resources', report)
  if (namespaces.length === 0 && clusterScope === true) return
  const all = validateList(
    namespaces, `${at}.namespaces`, 'resource rules that are not cluster scoped must supply at least one namespace',
    'namespaces', report
  )
  for (const [index, name] of all.entries()) checkName(report, `${at}.namespaces[${index}]`, name, namespaceName)
}

function validatePathRule ({ verbs, nonResourceURLs }: NonResourcePolicyRule, at: string, report: Report): void {
  validateVerbs(verbs, `${at}.verbs`, report)
  for (const [index, path] of validateList(
    nonResourceURLs, `${at}.nonResourceURLs`, 'nonResourceURLs must contain at least one value', 'non-resource URLs',
    report
  )
    .entries()) {
    validatePath(path, `${at}.nonResourceURLs[${index}]`, report)
  }
}

/** Errors of a path, of which only the first is reported. */
const PATH_FINDINGS: ReadonlyArray<readonly [wrong: (path: string) => boolean, detail: string]> = [
  [path => path === '', 'must not be empty'],
  [path => !path.startsWith('/'), 'must start with slash'],
  [path => path.includes(' '), 'must not contain white-space'],
  [path => path.includes('//'), 'must not contain double slash'],
  [path => path.slice(0, -1).includes(ALL) ||
    (path.endsWith(ALL) && !path.endsWith('/*')), 'wildcard can only do suffix matching']
]

function validatePath (path: string, at: string, report: Report): void {
  const finding = PATH_FINDINGS.find(([wrong]) => wrong(path))
  if (finding !== undefined) invalid(report, at, path, finding[1])
}

/** For both kinds. Each condition has a type, and types are unique. */
export function validateFlowConditions (
  conditions: ReadonlyArray<{ readonly type?: string | undefined }>, at: string, report: Report
): void {
  const types = new Set<string>()
  for (const [index, { type = '' }] of conditions.entries()) {
    if (types.has(type)) duplicate(report, `${at}[${index}].type`, type)
    types.add(type)
    if (type === '') required(report, `${at}[${index}].type`, 'must not be empty')
  }
}
