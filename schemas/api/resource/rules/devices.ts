/** Validation of devices of slices. */
import type { Report } from '../../../language/types.js'
import { sameValue } from '../../../language/values.js'
import { validatePart } from '../../../language/validation.js'
import { dnsLabel, dnsSubdomain } from '../../../names.js'
import { checkName, invalid, required, requiredName, tooLong, tooMany } from '../../../rules/findings.js'
import { NodeSelector } from '../../core/affinity.js'
import type { Counter, Device, DeviceAttribute } from '../v1.js'
import { validateCapacities } from './capacities.js'
import { checkAttributeName, checkBinding, checkDevice, checkUnique, isShort } from './names.js'
import { validateTaint } from './taint-rules.js'

const MOST_ATTRIBUTES = 32
const MOST_VALUES = 48
const MOST_TAINTS = 16
const [MOST_COUNTERS, MOST_CONSUMED] = [32, 2]
const MAX_TEXT = 64
const NUMBER = '(?:0|[1-9]\\d*)'
const PRERELEASE = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)'
const BUILD = '[0-9a-zA-Z-]+'
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRERELEASE}(?:\\.${PRERELEASE})*)?(?:\\+${BUILD}(?:\\.${BUILD})*)?$`
)
export const LISTS = ['ints', 'bools', 'strings', 'versions'] as const
const SCALARS = ['int', 'bool', 'string', 'version'] as const

export function validateDevice (device: Device, old: Device | undefined, at: string, report: Report): void {
  const { name, attributes = {}, capacity = {}, taints = [], consumesCounters = [] } = device
  checkDevice(name, `${at}.name`, report)
  const named = Object.keys(attributes).length + Object.keys(capacity).length
  if (named > MOST_ATTRIBUTES) {
    const why = `the total number of attributes and capacities must not exceed ${MOST_ATTRIBUTES}`
    return invalid(report, at, named, why)
  }
  const values = Object.values(attributes)
    .reduce((sum, attribute) => sum + Math.max(1, ...LISTS.map(list => attribute[list]?.length ?? 0)), 0)
  if (values > MOST_VALUES) {
    return invalid(report, at, values, `the total number of attribute values must not exceed ${MOST_VALUES}`)
  }
  for (const [key, attribute] of Object.entries(attributes)) {
    checkAttributeName(key, `${at}.attributes`, report)
    validateAttribute(attribute, `${at}.attributes[${key}]`, report)
  }
  if (!sameValue(capacity, old?.capacity ?? {})) validateCapacities(device, `${at}.capacity`, report)
  if (!sameValue(taints, old?.taints ?? [])) validateTaints(device, `${at}.taints`, report)
  if (isShort(consumesCounters, MOST_CONSUMED, `${at}.consumesCounters`, report)) {
    for (const [index, { counterSet, counters }] of consumesCounters.entries()) {
      validateCounters(counterSet, counters, `${at}.consumesCounters[${index}]`, { of: 'counterSet', report })
    }
    checkUnique(consumesCounters, ({ counterSet }) => counterSet, `${at}.consumesCounters`, report)
  }
  checkBinding(device, at, report)
}

const ONE_VALUE = 'exactly one value must be specified'

function validateAttribute (attribute: DeviceAttribute, at: string, report: Report): void {
  const { string, version, strings = [], versions = [] } = attribute
  if (string !== undefined) checkText(string, `${at}.string`, report)
  if (version !== undefined) checkVersion(version, `${at}.version`, report)
  for (const [index, text] of strings.entries()) checkText(text, `${at}.strings[${index}]`, report)
  for (const [index, text] of versions.entries()) checkVersion(text, `${at}.versions[${index}]`, report)
  const set = [...SCALARS, ...LISTS].filter(name => attribute[name] !== undefined).length
  if (set !== 1) invalid(report, at, set === 0 ? '' : attribute, ONE_VALUE)
}

function checkText (text: string, at: string, report: Report): void {
  if (Buffer.byteLength(text) > MAX_TEXT) tooLong(report, at, MAX_TEXT)
}

function checkVersion (text: string, at: string, report: Report): void {
  if (text.length > MAX_TEXT) tooLong(report, at, MAX_TEXT)
  if (!SEMVER.test(text)) invalid(report, at, text, 'must be a string compatible with semver.org spec 2.0.0')
}

function validateTaints ({ taints = [] }: Device, at: string, report: Report): void {
  if (!isShort(taints, MOST_TAINTS, at, report)) return
  for (const [index, taint] of taints.entries()) validateTaint(taint, undefined, `${at}[${index}]`, report)
}

/** @param of the field with the name */
export function validateCounters (
  name: string, counters: Readonly<Record<string, Counter>> | undefined, at: string,
  { of, report }: { readonly of: string, readonly report: Report }
): void {
  requiredName(report, `${at}.${of}`, name, dnsLabel)
  const names = Object.keys(counters ?? {})
  if (names.length === 0) return required(report, `${at}.counters`)
  if (names.length > MOST_COUNTERS) return tooMany(report, `${at}.counters`, names.length, MOST_COUNTERS)
  for (const counter of names) checkName(report, `${at}.counters`, counter, dnsLabel)
}

const OWN =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true ' +
    'in the ResourceSlice spec'

/** Each device names its nodes, or none does. */
export function validateOwnNodes (device: Device, isRequired: boolean, at: string, report: Report): void {
  const { nodeName, nodeSelector, allNodes } = device
  if (!isRequired) {
    if (nodeName === undefined && nodeSelector === undefined && allNodes === undefined) return
    return invalid(
      report, at, null, '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is ' +
        'set to true in the ResourceSlice spec'
    )
  }
  const set: string[] = []
  if (nodeName === '') invalid(report, `${at}.nodeName`, nodeName, 'must not be empty')
  else if (nodeName !== undefined) {
    set.push('`nodeName`')
    checkName(report, `${at}.nodeName`, nodeName, dnsSubdomain)
  }
  if (nodeSelector !== undefined) {
    set.push('`nodeSelector`')
    validatePart(NodeSelector, nodeSelector, `${at}.nodeSelector`, report)
  }
  if (allNodes === true) set.push('`allNodes`')
  if (allNodes === false) invalid(report, `${at}.allNodes`, allNodes, 'must be either unset or set to true')
  if (set.length === 0) required(report, at, OWN)
  if (set.length > 1) invalid(report, at, `{${set.join(', ')}}`, OWN)
}
