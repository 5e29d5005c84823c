/** Validation of CSIDrivers, CSINodes and CSIStorageCapacities. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { sameValue } from '../../../language/values.js'
import type { LabelSelector } from '../../../meta/options.js'
import { dnsSubdomain, qualifiedName } from '../../../names.js'
import { duplicate, invalid, checkName, notNegative, notSupported, required } from '../../../rules/findings.js'
import { isNegative } from '../../../rules/quantities.js'
import { validateLabelSelector } from '../../../selectors/objects.js'
import { checkDriverName } from '../../core/rules/network-volumes.js'
import type { CSIDriverSpec, TokenRequest } from '../csidrivers.js'
import type { CSINodeDriver, CSINodeSpec } from '../csinodes.js'

const GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType']
const MODES = ['Persistent', 'Ephemeral']
const MIN_SECONDS = 600
const MAX_SECONDS = 2 ** 32
const MAX_NODE_ID = 256
const MIN_PERIOD = 10

export function validateDriverSpec (
  {
    fsGroupPolicy, volumeLifecycleModes = [], tokenRequests = [], nodeAllocatableUpdatePeriodSeconds: period,
    serviceAccountTokenInSecrets: inSecrets
  }: CSIDriverSpec, at: string, report: Report
): void {
  if (period !== undefined && period < MIN_PERIOD) {
    const why = `must be greater than or equal to ${MIN_PERIOD} seconds`
    invalid(report, `${at}.nodeAllocatableUpdatePeriodSeconds`, period, why)
  }
  if (fsGroupPolicy !== undefined && !GROUP_POLICIES.includes(fsGroupPolicy)) {
    notSupported(report, `${at}.fsGroupPolicy`, fsGroupPolicy, GROUP_POLICIES)
  }
  validateTokenRequests(tokenRequests, `${at}.tokenRequests`, report)
  if (inSecrets !== undefined && tokenRequests.length === 0) {
    invalid(report, `${at}.serviceAccountTokenInSecrets`, inSecrets, 'there are no tokenRequests that it is about')
  }
  for (const mode of volumeLifecycleModes) {
    if (!MODES.includes(mode)) notSupported(report, `${at}.volumeLifecycleModes`, mode, MODES)
  }
}

function validateTokenRequests (tokenRequests: readonly TokenRequest[], at: string, report: Report): void {
  const audiences = new Set<string>()
  for (const [index, { audience, expirationSeconds: seconds }] of tokenRequests.entries()) {
    const field = `${at}[${index}]`
    if (audiences.has(audience)) duplicate(report, `${field}.audience`, audience)
    else if (seconds !== undefined &&
      seconds <
        MIN_SECONDS) {
      invalid(
        report, `${field}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes'
      )
    } else if (seconds !== undefined && seconds > MAX_SECONDS) {
      invalid(report, `${field}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds')
    }
    audiences.add(audience)
  }
}

/** `attachedRequired` is upstream's spelling. */
export function validateDriverUpdate (spec: CSIDriverSpec, old: CSIDriverSpec, at: string, report: Report): void {
  if (spec.attachRequired !== old.attachRequired) {
    invalid(report, `${at}.attachedRequired`, spec.attachRequired, 'field is immutable')
  }
  const fixed = isOn(report, 'DriverChangesMounts')
    ? ['volumeLifecycleModes'] as const
    : ['fsGroupPolicy', 'podInfoOnMount', 'volumeLifecycleModes'] as const
  for (const field of fixed) {
    if (!sameValue(spec[field], old[field])) invalid(report, `${at}.${field}`, spec[field], 'field is immutable')
  }
}

export function validateNodeDrivers ({ drivers = [] }: CSINodeSpec, at: string, report: Report): void {
  const names = new Set<string>()
  for (const [index, driver] of drivers.entries()) {
    validateNodeDriver(driver, names.has(driver.name), `${at}.drivers[${index}]`, report)
    names.add(driver.name)
  }
}

function validateNodeDriver (
  { name, nodeID, allocatable, topologyKeys = [] }: CSINodeDriver, isTaken: boolean, at: string, report: Report
): void {
  checkDriverName(name, `${at}.name`, report)
  if (nodeID === '') required(report, `${at}.nodeID`)
  if (Buffer.byteLength(nodeID) > MAX_NODE_ID) {
    invalid(report, `${at}.nodeID`, nodeID, `must be ${MAX_NODE_ID} characters or less`)
  }
  notNegative(report, `${at}.allocatable.count`, allocatable?.count)
  if (isTaken) duplicate(report, `${at}.name`, name)
  const keys = new Set<string>()
  for (const key of topologyKeys) {
    if (key === '') required(report, at)
    if (keys.has(key)) duplicate(report, at, key)
    keys.add(key)
    checkName(report, at, key, qualifiedName)
  }
}

/**
 * Drivers of a CSINode may be added and removed but not changed; with the gate MutableCSINodeAllocatableCount their
 * `allocatable` may.
 */
export function validateNodeDriversUpdate (
  { drivers = [] }: CSINodeSpec, { drivers: before = [] }: CSINodeSpec, report: Report
): void {
  const at = isOn(report, 'NodeDriversHavePath') ? 'spec.drivers' : 'CSINodeDriver'
  const installed = new Map(before.map(driver => [driver.name, driver]))
  for (const driver of drivers) {
    const old = installed.get(driver.name)
    const allocatable = isOn(report, 'MutableCSINodeAllocatableCount') ? old?.allocatable : driver.allocatable
    if (old !== undefined && !sameValue({ ...driver, allocatable }, old)) {
      invalid(report, at, driver, 'field is immutable')
    }
  }
}

interface Capacity {
  readonly storageClassName: string, readonly capacity?: string | undefined,
  readonly nodeTopology?: LabelSelector | undefined
}

export function validateStorageCapacity (object: Capacity, report: Report): void {
  const { nodeTopology, storageClassName, capacity } = object
  if (nodeTopology !== undefined) validateLabelSelector(nodeTopology, 'nodeTopology', report)
  checkName(report, 'storageClassName', storageClassName, dnsSubdomain)
  if (capacity !== undefined && isNegative(capacity)) {
    invalid(report, 'capacity', capacity, 'must be greater than or equal to 0')
  }
}
