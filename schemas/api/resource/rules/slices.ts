/** Validation of slices: the devices that drivers offer. */
import type { Report } from '../../../language/types.js'
import { validatePart } from '../../../language/validation.js'
import { dnsSubdomain } from '../../../names.js'
import { checkName, invalid, required } from '../../../rules/findings.js'
import type { Steps } from '../../../steps.js'
import { NodeSelector } from '../../core/affinity.js'
import type { CounterSet, Device, ResourceSliceSpec } from '../v1.js'
import { LISTS, validateCounters, validateDevice, validateOwnNodes } from './devices.js'
import { checkDriver, checkPool, checkUnique, isShort } from './names.js'

const [MOST_DEVICES, MOST_ADVANCED] = [128, 64]
const MOST_SETS = 8

const isAdvanced = ({ taints = [], consumesCounters = [], attributes = {} }: Device): boolean =>
  taints.length > 0 || consumesCounters.length > 0 ||
  Object.values(attributes).some(attribute => LISTS.some(name => attribute[name] !== undefined))

/** @param old undefined on create */
export function * validateSlice (
  spec: ResourceSliceSpec, old: ResourceSliceSpec | undefined, report: Report
): Steps<void> {
  const at = 'spec'
  const { driver, pool, devices, sharedCounters } = spec
  checkDriver(driver, `${at}.driver`, report)
  checkPool(pool.name, `${at}.pool.name`, report)
  if (pool.resourceSliceCount <= 0) {
    invalid(report, `${at}.pool.resourceSliceCount`, pool.resourceSliceCount, 'must be greater than zero')
  }
  if (pool.generation < 0) {
    invalid(report, `${at}.pool.generation`, pool.generation, 'must be greater than or equal to zero')
  }
  if (old !== undefined) {
    for (const [field, value, before] of [
      ['pool.name', pool.name, old.pool.name], ['driver', driver, old.driver], ['nodeName', spec.nodeName, old.nodeName]
    ] as const) if (value !== before) invalid(report, `${at}.${field}`, value, 'field is immutable')
  }
  validateNodes(spec, at, report)
  if (sharedCounters !== undefined && devices !== undefined) {
    invalid(report, at, '', 'only one of `sharedCounters` or `devices` is allowed')
  }
  yield * validateDevices(spec, old, `${at}.devices`, report)
  if (!isShort(sharedCounters ?? [], MOST_SETS, `${at}.sharedCounters`, report)) return
  for (const [index, set] of (sharedCounters ?? []).entries()) {
    validateCounters(set.name, set.counters, `${at}.sharedCounters[${index}]`, { of: 'name', report })
  }
  checkUnique<CounterSet>(sharedCounters ?? [], ({ name }) => name, `${at}.sharedCounters`, report)
}

function validateNodes (spec: ResourceSliceSpec, at: string, report: Report): void {
  const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection } = spec
  const set: string[] = []
  if (nodeName !== undefined) {
    if (nodeName === '') {
      invalid(report, `${at}.nodeName`, nodeName, 'must be either unset or set to a non-empty string')
    } else {
      set.push('`nodeName`')
      checkName(report, `${at}.nodeName`, nodeName, dnsSubdomain)
    }
  }
  if (nodeSelector !== undefined) {
    set.push('`nodeSelector`')
    validatePart(NodeSelector, nodeSelector, `${at}.nodeSelector`, report)
    const { nodeSelectorTerms: terms } = nodeSelector
    if (terms?.length !== 1) {
      invalid(report, `${at}.nodeSelector.nodeSelectorTerms`, terms, 'must have exactly one node selector term')
    }
  }
  for (const [name, value] of Object.entries({ allNodes, perDeviceNodeSelection })) {
    if (value === true) set.push(`\`${name}\``)
    else if (value === false) invalid(report, `${at}.${name}`, value, 'must be either unset or set to true')
  }
  const words = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
  if (set.length === 0) required(report, at, words)
  if (set.length > 1) invalid(report, at, `{${set.join(', ')}}`, `${words}, but multiple fields are set`)
}

function * validateDevices (
  { devices = [], perDeviceNodeSelection }: ResourceSliceSpec, old: ResourceSliceSpec | undefined, at: string,
  report: Report
): Steps<void> {
  // Nothing is looked at in a list that is too long.
  const most = devices.length > MOST_DEVICES || !devices.some(isAdvanced) ? MOST_DEVICES : MOST_ADVANCED
  if (!isShort(devices, most, at, report)) return
  const before = new Map((old?.devices ?? []).map(device => [device.name, device]))
  for (const [index, device] of devices.entries()) {
    validateDevice(device, before.get(device.name), `${at}[${index}]`, report)
    validateOwnNodes(device, perDeviceNodeSelection === true, `${at}[${index}]`, report)
    yield
  }
  checkUnique(devices, ({ name }) => name, at, report)
}
