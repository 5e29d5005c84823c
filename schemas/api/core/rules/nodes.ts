/** Validation of Nodes. As upstream, taint errors have paths below metadata. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { configKey, dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../../../names.js'
import {
  duplicate, forbidden, invalid, checkName, notSupported, required, requiredName
} from '../../../rules/findings.js'
import { areDualStack, parseRange } from '../../../rules/net.js'
import { validateAmount } from '../../../rules/quantities.js'
import { validateNodeAnnotations } from './node-annotations.js'
import type { NodeConfigSource, NodeStatus } from '../node-status.js'
import type { Node, NodeSpec, Taint } from '../nodes.js'

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const CIDRS = 'spec.podCIDRs'

/** On create and on update. */
export function validateNode ({ metadata, spec }: Node, report: Report): void {
  validateNodeAnnotations(metadata.annotations, (taints, at) => { validateTaints(taints, at, report) }, report)
  validateTaints(spec.taints ?? [], 'metadata.taints', report)
  validatePodRanges(spec.podCIDRs ?? [], report)
}

export function validateNodeStatus (status: NodeStatus, at: string, report: Report): void {
  const { nodeInfo: { swap } = {}, declaredFeatures = [] } = status
  // Upstream's path.
  if (swap?.capacity !== undefined && swap.capacity <= 0) {
    invalid(report, 'metadata.nodeSwapStatus.capacity', swap.capacity, 'must be greater than zero')
  }
  checkFeatures(declaredFeatures, `${at}.declaredFeatures`, report)
  for (const field of ['capacity', 'allocatable'] as const) {
    for (const [name, amount] of Object.entries(status[field] ?? {})) {
      validateAmount(report, `${at}.${field}.${name}`, name, amount)
    }
  }
}

const FEATURE = /^[A-Z][a-zA-Z0-9]*(?:\/[a-zA-Z][a-zA-Z0-9]*)*$/
const MAX_FEATURE = 253

/** Sorted, each once. */
function checkFeatures (features: readonly string[], at: string, report: Report): void {
  features.forEach((feature, index) => {
    if (feature.length > MAX_FEATURE || !FEATURE.test(feature)) {
      invalid(report, `${at}[${index}]`, feature, 'must be the name of a feature, such as MyFeature or MyFeature/part')
    }
    const before = index === 0 ? undefined : features[index - 1]
    if (before === feature) duplicate(report, `${at}[${index}]`, feature)
    else if (before !== undefined && before > feature) {
      invalid(report, `${at}[${index}]`, feature, 'list must be sorted alphabetically')
    }
  })
}

function validateTaints (taints: readonly Taint[], at: string, report: Report): void {
  const seen = new Set<string>()
  for (const [index, entry] of taints.entries()) {
    const { key, value = '', effect } = entry
    const field = `${at}[${index}]`
    checkName(report, `${field}.key`, key, qualifiedName)
    const wrong = labelValue(value)
    if (wrong.length > 0) invalid(report, `${field}.value`, value, wrong.join(';'))
    if (effect === '') required(report, `${field}.effect`)
    else if (!EFFECTS.includes(effect)) notSupported(report, `${field}.effect`, effect, EFFECTS)
    const taint = `${key}:${effect}`
    if (seen.has(taint)) {
      report({
        type: 'FieldValueDuplicate', field, value: entry, detail: 'taints must be unique by key and effect pair'
      })
    }
    seen.add(taint)
  }
}

function validatePodRanges (texts: readonly string[], report: Report): void {
  const ranges = texts.map(parseRange)
  for (const [index, range] of ranges.entries()) {
    if (range === undefined) invalid(report, `${CIDRS}[${index}]`, texts, 'must be valid CIDR')
  }
  if (texts.length < 2) return
  if (texts.length > 2 || !areDualStack(ranges.flatMap(range => range === undefined ? [] : [range.address]))) {
    invalid(report, CIDRS, texts, 'may specify no more than one CIDR for each IP family')
  }
  if (isOn(report, 'AddressFaultsAreToldOnce')) return
  const seen = new Set<string>()
  for (const [index, text] of texts.entries()) {
    if (seen.has(text)) duplicate(report, `${CIDRS}[${index}]`, text)
    seen.add(text)
  }
}

/** Validates updates of the object and of its status. Validates taints and annotations again. */
export function validateNodeUpdate ({ metadata, spec, status }: Node, { spec: old }: Node, report: Report): void {
  validateNodeAnnotations(metadata.annotations, (taints, at) => { validateTaints(taints, at, report) }, report)
  validateTaints(spec.taints ?? [], 'metadata.taints', report)
  const { addresses = [] } = status
  const seen = new Set<string>()
  for (const [index, entry] of addresses.entries()) {
    const address = JSON.stringify([entry.type, entry.address])
    if (seen.has(address)) duplicate(report, `status.addresses[${index}]`, entry)
    seen.add(address)
  }
  const fixed = (field: string, what: string): void => {
    forbidden(report, `spec.${field}`, `node updates may not change ${what} except from "" to valid`)
  }
  const [ranges, before] = [spec.podCIDRs ?? [], old.podCIDRs ?? []]
  if (before.length > 0 && ranges.length !== before.length) fixed('podCIDRs', 'podCIDR')
  else before.forEach((range, index) => { if (ranges[index] !== range) fixed('podCIDRs', 'podCIDR') })
  if ((old.providerID ?? '') !== '' && spec.providerID !== old.providerID) fixed('providerID', 'providerID')
  if (spec.configSource !== undefined) validateConfigSource(spec.configSource, 'spec.configSource', false, report)
  for (const field of ['assigned', 'active', 'lastKnownGood'] as const) {
    const source = status.config?.[field]
    if (source !== undefined) validateConfigSource(source, `status.config.${field}`, true, report)
  }
  if ((spec.externalID ?? '') !== (old.externalID ?? '')) forbidden(report, 'spec.externalID', 'may not be updated')
}

/** uid and resourceVersion are set in status only. */
function validateConfigSource ({ configMap }: NodeConfigSource, at: string, isStatus: boolean, report: Report): void {
  if (configMap === undefined) return invalid(report, at, {}, 'configMap is required')
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (isStatus && !configMap[field]) required(report, `${at}.configMap.${field}`, `${field} must be set in status`)
    if (!isStatus && configMap[field]) forbidden(report, `${at}.configMap.${field}`, `${field} must not be set in spec`)
  }
  requiredName(report, `${at}.configMap.namespace`, configMap.namespace, dnsLabel, 'namespace must be set')
  requiredName(report, `${at}.configMap.name`, configMap.name, dnsSubdomain, 'name must be set')
  requiredName(
    report, `${at}.configMap.kubeletConfigKey`, configMap.kubeletConfigKey, configKey, 'kubeletConfigKey must be set'
  )
}

/** Makes podCIDR and the first of podCIDRs agree; podCIDR takes precedence. */
export function alignPodRanges (spec: Pick<NodeSpec, 'podCIDR' | 'podCIDRs'>): void {
  const { podCIDR = '', podCIDRs: [first] = [] } = spec
  if (podCIDR !== '' && podCIDR !== first) spec.podCIDRs = [podCIDR]
  else if (podCIDR === '' && first !== undefined) spec.podCIDR = first
}
