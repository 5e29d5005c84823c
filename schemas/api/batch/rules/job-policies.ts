/** Validation of what failed and successful pods mean for a job. */
import type { Report } from '../../../language/declare.js'
import { domainOfPath, qualifiedName } from '../../../names.js'
import {
  checkName, duplicate, invalid, notNegative, notSupported, required, tooLong, tooMany
} from '../../../rules/findings.js'
import type { PodFailurePolicyRule, SuccessPolicyRule } from '../job-policies.js'
import type { JobSpec } from '../jobs.js'
import { countIndexes } from './indexes.js'

const MAX_RULES = 20
const MAX_CODES = 255
const MAX_CONDITIONS = 20
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const OPERATORS = ['In', 'NotIn']
const STATUSES = ['False', 'True', 'Unknown']
const REPLACEMENTS = ['Failed', 'TerminatingOrFailed']
const MAX_MANAGER = 63

export function checkJobPolicies (spec: JobSpec, at: string, report: Report): void {
  const { podFailurePolicy, podReplacementPolicy: replacement, managedBy, template } = spec
  if (podFailurePolicy !== undefined) {
    const { rules = [] } = podFailurePolicy
    const { containers = [], initContainers = [] } = template.spec
    const names = new Set([...containers, ...initContainers].map(({ name }) => name))
    const path = `${at}.podFailurePolicy.rules`
    if (rules.length > MAX_RULES) tooMany(report, path, rules.length, MAX_RULES)
    rules.slice(0, MAX_RULES).forEach((rule, index) => {
      checkFailure(rule, names, spec.backoffLimitPerIndex !== undefined, `${path}[${index}]`, report)
    })
    if (template.spec.restartPolicy === 'OnFailure') {
      invalid(
        report, `${at}.template.spec.restartPolicy`, 'OnFailure',
        'only "Never" is supported when podFailurePolicy is specified'
      )
    }
  }
  if (replacement !== undefined) {
    const supported = podFailurePolicy === undefined ? REPLACEMENTS : ['Failed']
    if (!supported.includes(replacement)) {
      notSupported(report, `${at}.podReplacementPolicy`, replacement, supported)
    }
  }
  if (managedBy !== undefined) {
    const field = `${at}.managedBy`
    if (managedBy === '') required(report, field)
    else if (domainOfPath(managedBy) === undefined) {
      invalid(report, field, managedBy, 'must be a domain-prefixed path (such as "acme.io/foo")')
    }
    if (managedBy.length > MAX_MANAGER) tooLong(report, field, MAX_MANAGER)
  }
  checkOfIndexes(spec, at, report)
}

function checkFailure (
  { action, onExitCodes, onPodConditions = [] }: PodFailurePolicyRule, names: ReadonlySet<string>, perIndex: boolean,
  at: string, report: Report
): void {
  // the declared type lists the known actions, but a client may have sent any text
  const sent: string = action
  if (sent === '') required(report, `${at}.action`, `valid values: ${ACTIONS.map(name => `"${name}"`).join(', ')}`)
  else if (!ACTIONS.includes(sent)) notSupported(report, `${at}.action`, sent, ACTIONS)
  else if (sent === 'FailIndex' && !perIndex) {
    invalid(report, `${at}.action`, sent, 'requires the backoffLimitPerIndex to be set')
  }
  if (onExitCodes !== undefined) checkCodes(onExitCodes, names, `${at}.onExitCodes`, report)
  const conditions = `${at}.onPodConditions`
  if (onPodConditions.length > MAX_CONDITIONS) tooMany(report, conditions, onPodConditions.length, MAX_CONDITIONS)
  onPodConditions.slice(0, MAX_CONDITIONS).forEach(({ type, status = '' }, index) => {
    checkName(report, `${conditions}[${index}].type`, type, qualifiedName)
    if (!STATUSES.includes(status)) notSupported(report, `${conditions}[${index}].status`, status, STATUSES)
  })
  if (onExitCodes !== undefined && onPodConditions.length > 0) {
    invalid(report, at, '', 'specifying both OnExitCodes and OnPodConditions is not supported')
  } else if (onExitCodes === undefined && onPodConditions.length === 0) {
    invalid(report, at, '', 'specifying one of OnExitCodes and OnPodConditions is required')
  }
}

function checkCodes (
  { containerName, operator, values = [] }: NonNullable<PodFailurePolicyRule['onExitCodes']>,
  names: ReadonlySet<string>, at: string, report: Report
): void {
  const sent: string = operator
  if (sent === '') required(report, `${at}.operator`, 'valid values: "In", "NotIn"')
  else if (!OPERATORS.includes(sent)) notSupported(report, `${at}.operator`, sent, OPERATORS)
  if (containerName !== undefined && !names.has(containerName)) {
    invalid(
      report, `${at}.containerName`, containerName,
      'must be one of the container or initContainer names in the pod template'
    )
  }
  const field = `${at}.values`
  if (values.length === 0) return invalid(report, field, values, 'at least one value is required')
  if (values.length > MAX_CODES) return tooMany(report, field, values.length, MAX_CODES)
  const seen = new Set<number>()
  values.forEach((code, index) => {
    if (sent === 'In' && code === 0) invalid(report, `${field}[${index}]`, code, 'must not be 0 for the In operator')
    if (seen.has(code)) duplicate(report, `${field}[${index}]`, code)
    seen.add(code)
  })
  if (values.some((code, index) => index > 0 && code < (values[index - 1] ?? code))) {
    invalid(report, field, values, 'must be ordered')
  }
}

/** Above this many completions, failures of single indexes are bounded. */
const MANY_COMPLETIONS = 100_000
const MAX_OF_MANY = 10_000
const MAX_INDEXES_BYTES = 64 * 1024

/** Retries and success by index, which only mode Indexed has. */
function checkOfIndexes (spec: JobSpec, at: string, report: Report): void {
  const { backoffLimitPerIndex: limit, maxFailedIndexes: most, successPolicy, completions = 0, parallelism = 0 } = spec
  notNegative(report, `${at}.backoffLimitPerIndex`, limit)
  notNegative(report, `${at}.maxFailedIndexes`, most)
  if (most !== undefined && limit === undefined) {
    required(report, `${at}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')
  }
  if (spec.completionMode !== 'Indexed') {
    const ofIndexes = { backoffLimitPerIndex: limit, maxFailedIndexes: most, successPolicy }
    for (const [field, value] of Object.entries(ofIndexes)) {
      if (value !== undefined) invalid(report, `${at}.${field}`, value, 'requires indexed completion mode')
    }
    return
  }
  if (most !== undefined && most > completions) {
    invalid(report, `${at}.maxFailedIndexes`, most, 'must be less than or equal to completions')
  }
  if (most !== undefined && most > MANY_COMPLETIONS) {
    invalid(report, `${at}.maxFailedIndexes`, most, `must be less than or equal to ${MANY_COMPLETIONS}`)
  }
  if (limit !== undefined && completions > MANY_COMPLETIONS) {
    const detail = `must be less than or equal to ${MAX_OF_MANY} when completions are above ${MANY_COMPLETIONS} and ` +
      'used with backoff limit per index'
    if (most === undefined) {
      required(report, `${at}.maxFailedIndexes`, `must be specified when completions is above ${MANY_COMPLETIONS}`)
    } else if (most > MAX_OF_MANY) invalid(report, `${at}.maxFailedIndexes`, most, detail)
    if (parallelism > MAX_OF_MANY) invalid(report, `${at}.parallelism`, parallelism, detail)
  }
  if (successPolicy === undefined) return
  const path = `${at}.successPolicy.rules`
  const { rules = [] } = successPolicy
  if (rules.length === 0) {
    required(report, path, 'at least one rules must be specified when the successPolicy is specified')
  }
  if (rules.length > MAX_RULES) tooMany(report, path, rules.length, MAX_RULES)
  rules.slice(0, MAX_RULES).forEach((rule, index) => { checkSuccess(rule, completions, `${path}[${index}]`, report) })
}

function checkSuccess (
  { succeededIndexes: indexes, succeededCount: count }: SuccessPolicyRule, completions: number, at: string,
  report: Report
): void {
  if (indexes === undefined && count === undefined) {
    return required(report, at, 'at least one of succeededCount or succeededIndexes must be specified')
  }
  let total: number | undefined
  const field = `${at}.succeededIndexes`
  if (indexes !== undefined && indexes.length > MAX_INDEXES_BYTES) tooLong(report, field, MAX_INDEXES_BYTES)
  else if (indexes !== undefined) {
    const counted = countIndexes(indexes, completions)
    if (typeof counted === 'string') invalid(report, field, indexes, `error parsing succeededIndexes: ${counted}`)
    else total = counted
  }
  if (count === undefined) return
  notNegative(report, `${at}.succeededCount`, count)
  if (count > completions) {
    invalid(
      report, `${at}.succeededCount`, count,
      `must be less than or equal to ${completions} (the number of specified completions)`
    )
  }
  if (total !== undefined && count > total) {
    invalid(
      report, `${at}.succeededCount`, count,
      `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`
    )
  }
}
