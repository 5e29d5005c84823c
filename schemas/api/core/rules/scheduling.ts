/** Validation of affinity, tolerations and topology spread constraints. */
import { isOn } from '../../../gates.js'
import { checkName, duplicate, forbidden, forgiving, invalid, notSupported, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../../../names.js'
import type { LabelSelector } from '../../../meta/options.js'
import { validateLabelSelector } from '../../../selectors/objects.js'
import type {
  NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodAffinityTerm, Toleration, TopologySpreadConstraint
} from '../affinity.js'

const NO_OPERATOR = 'not a valid selector operator'

/** Terms that a node must match. */
export function validateNodeSelector ({ nodeSelectorTerms = [] }: NodeSelector, at: string, report: Report): void {
  if (nodeSelectorTerms.length === 0) {
    required(report, `${at}.nodeSelectorTerms`, 'must have at least one node selector term')
  }
  if (!isOn(report, 'NodeAffinityNeedsLabelValues')) return
  for (const [index, { matchExpressions = [] }] of nodeSelectorTerms.entries()) {
    for (const [place, { values = [] }] of matchExpressions.entries()) {
      const path = `${at}.nodeSelectorTerms[${index}].matchExpressions[${place}].values`
      values.forEach((value, which) => { checkName(forgiving(report), `${path}[${which}]`, value, labelValue) })
    }
  }
}

export function validateNodeSelectorTerm (
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm, at: string, report: Report
): void {
  matchExpressions.forEach((requirement, index) => checkLabels(requirement, `${at}.matchExpressions[${index}]`, report))
  matchFields.forEach((requirement, index) => checkFields(requirement, `${at}.matchFields[${index}]`, report))
}

function checkLabels ({ key, operator, values = [] }: NodeSelectorRequirement, at: string, report: Report): void {
  switch (operator) {
    case 'In': case 'NotIn':
      if (values.length === 0) {
        required(report, `${at}.values`, 'must be specified when `operator` is \'In\' or \'NotIn\'')
      }
      break
    case 'Exists': case 'DoesNotExist':
      if (values.length > 0) {
        forbidden(report, `${at}.values`, 'may not be specified when `operator` is \'Exists\' or \'DoesNotExist\'')
      }
      break
    case 'Gt': case 'Lt':
      if (values.length !== 1) {
        required(report, `${at}.values`, 'must be specified single value when `operator` is \'Lt\' or \'Gt\'')
      }
      break
    default: invalid(report, `${at}.operator`, operator, NO_OPERATOR)
  }
  checkName(report, `${at}.key`, key, qualifiedName)
}

/** Nodes can be selected by name only. */
function checkFields ({ key, operator, values = [] }: NodeSelectorRequirement, at: string, report: Report): void {
  if (operator !== 'In' && operator !== 'NotIn') invalid(report, `${at}.operator`, operator, NO_OPERATOR)
  else if (values.length !== 1) {
    required(
      report, `${at}.values`, 'must be only one value when `operator` is \'In\' or \'NotIn\' for node field selector'
    )
  }
  if (key !== 'metadata.name') return invalid(report, `${at}.key`, key, 'not a valid field selector key')
  values.forEach((name, index) => checkName(report, `${at}.values[${index}]`, name, dnsSubdomain))
}

export function validateWeight ({ weight }: { readonly weight: number }, at: string, report: Report): void {
  if (weight < 1 || weight > 100) invalid(report, `${at}.weight`, weight, 'must be in the range 1-100')
}

/** Labels of the pod itself that a selector is to have, too. */
function checkLabelKeys (
  keys: readonly string[] = [], selector: LabelSelector | undefined, at: string, report: Report
): void {
  if (keys.length === 0) return
  if (selector === undefined) return forbidden(report, at, 'must not be specified when labelSelector is not set')
  keys.forEach((key, index) => { checkName(report, `${at}[${index}]`, key, qualifiedName) })
}

/**
 * A key of matchLabelKeys is merged into the selector, so a selector that names it too has it twice. As upstream, the
 * path is that of the object with the selector.
 */
function checkNamedOnce (
  keys: readonly string[] = [], { matchLabels = {}, matchExpressions = [] }: LabelSelector = {}, at: string,
  report: Report
): void {
  const named = new Set(Object.keys(matchLabels))
  for (const { key } of matchExpressions) {
    const index = keys.lastIndexOf(key)
    if (index >= 0 && named.has(key)) {
      invalid(report, `${at}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector')
    }
    named.add(key)
  }
}

export function validatePodAffinityTerm (
  {
    labelSelector, namespaceSelector, namespaces = [], topologyKey, matchLabelKeys = [], mismatchLabelKeys = []
  }: PodAffinityTerm, at: string, report: Report
): void {
  if (labelSelector !== undefined) validateLabelSelector(labelSelector, `${at}.labelSelector`, report)
  if (namespaceSelector !== undefined) validateLabelSelector(namespaceSelector, `${at}.namespaceSelector`, report)
  for (const name of namespaces) checkName(report, `${at}.namespace`, name, dnsLabel)
  checkLabelKeys(matchLabelKeys, labelSelector, `${at}.matchLabelKeys`, report)
  checkLabelKeys(mismatchLabelKeys, labelSelector, `${at}.mismatchLabelKeys`, report)
  checkNamedOnce(matchLabelKeys, labelSelector, at, report)
  const both = new Set(matchLabelKeys)
  mismatchLabelKeys.forEach((key, index) => {
    if (both.has(key)) {
      const field = `${at}.matchLabelKeys[${matchLabelKeys.indexOf(key)}]`
      invalid(report, field, key, 'exists in both matchLabelKeys and mismatchLabelKeys')
    }
  })
  checkName(report, `${at}.topologyKey`, topologyKey, qualifiedName)
}

const OPERATORS = ['Equal', 'Exists']
/** The message names all that the type has, those of a gate that is off too. */
const NAMED_OPERATORS = [...OPERATORS, 'Lt', 'Gt']
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function validateToleration (toleration: Toleration, at: string, report: Report): void {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration
  if (key !== '') checkName(report, `${at}.key`, key, qualifiedName)
  if (key === '' && operator !== 'Exists') {
    invalid(
      report, `${at}.operator`, operator,
      'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    )
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    invalid(report, `${at}.effect`, effect, 'effect must be \'NoExecute\' when `tolerationSeconds` is set')
  }
  if (operator === 'Exists') {
    if (value !== '') invalid(report, `${at}.operator`, toleration, 'value must be empty when `operator` is \'Exists\'')
  } else if (operator === 'Equal' || operator === '') {
    const wrong = labelValue(value)
    if (wrong.length > 0) invalid(report, `${at}.operator`, value, wrong.join(';'))
  } else {
    const named = isOn(report, 'TolerationsNameAllOperators') ? NAMED_OPERATORS : OPERATORS
    notSupported(report, `${at}.operator`, operator, named)
  }
  if (effect !== '' && !EFFECTS.includes(effect)) notSupported(report, `${at}.effect`, effect, EFFECTS)
}

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway']

export function validateSpread (
  { maxSkew, whenUnsatisfiable, minDomains, matchLabelKeys, labelSelector }: TopologySpreadConstraint, at: string,
  report: Report
): void {
  if (minDomains !== undefined) {
    if (minDomains <= 0) invalid(report, `${at}.minDomains`, minDomains, 'must be greater than zero')
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      invalid(
        report, `${at}.minDomains`, minDomains,
        `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`
      )
    }
  }
  checkLabelKeys(matchLabelKeys, labelSelector, `${at}.matchLabelKeys`, report)
  checkNamedOnce(matchLabelKeys, labelSelector, at, report)
  if (labelSelector !== undefined && isOn(report, 'SpreadSelectorsAreChecked')) {
    validateLabelSelector(labelSelector, `${at}.labelSelector`, forgiving(report))
  }
  if (maxSkew <= 0) invalid(report, `${at}.maxSkew`, maxSkew, 'must be greater than zero')
  if (!ACTIONS.includes(whenUnsatisfiable)) notSupported(report, `${at}.whenUnsatisfiable`, whenUnsatisfiable, ACTIONS)
}

/** Topology key and action must be unique. All but the last of equal constraints are reported. */
export function checkSpreads (constraints: readonly TopologySpreadConstraint[], at: string, report: Report): void {
  const last = new Map<string, number>()
  const pair = ({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint) =>
    `{${topologyKey}, ${whenUnsatisfiable}}`
  constraints.forEach((constraint, index) => { last.set(pair(constraint), index) })
  constraints.forEach((constraint, index) => {
    const constrained = pair(constraint)
    if (last.get(constrained) !== index) {
      duplicate(report, `${at}[${index}].{topologyKey, whenUnsatisfiable}`, constrained)
    }
  })
}
