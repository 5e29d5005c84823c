/** What CSIDriver, CSINode and CSIStorageCapacity have to keep to. */
import type { Report } from '../../language/types.js'
import { sameValue } from '../../language/values.js'
import type { LabelSelector } from '../../meta/options.js'
import { dnsSubdomain, qualifiedName } from '../../names.js'
import { duplicate, invalid, named, nonnegative, notSupported, required } from '../../rules/findings.js'
import { isNegative } from '../../rules/quantities.js'
import { validateLabelSelector } from '../../selectors/objects.js'
import { validateDriver } from '../core/persistent-source-rules.js'
import type { CSIDriverSpec } from './csidrivers.js'
import type { CSINodeDriver, CSINodeSpec } from './csinodes.js'

const GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType']
const MODES = ['Persistent', 'Ephemeral']
const LEAST_SECONDS = 600
const MOST_SECONDS = 2 ** 32
const MOST_NODE_ID = 192

export function validateDriverSpec ({ fsGroupPolicy, volumeLifecycleModes = [], tokenRequests = [] }: CSIDriverSpec, at: string, report: Report): void {
  if (fsGroupPolicy !== undefined && !GROUP_POLICIES.includes(fsGroupPolicy)) notSupported(report, `${at}.fsGroupPolicy`, fsGroupPolicy, GROUP_POLICIES)
  for (const mode of volumeLifecycleModes) if (!MODES.includes(mode)) notSupported(report, `${at}.volumeLifecycleModes`, mode, MODES)
  const audiences = new Set<string>()
  for (const [index, { audience, expirationSeconds: seconds }] of tokenRequests.entries()) {
    const field = `${at}.tokenRequests[${index}]`
    if (audiences.has(audience)) duplicate(report, `${field}.audience`, audience)
    else if (seconds !== undefined && seconds < LEAST_SECONDS) invalid(report, `${field}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes')
    else if (seconds !== undefined && seconds > MOST_SECONDS) invalid(report, `${field}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds')
    audiences.add(audience)
  }
}

/** The path has one letter more than the field, as clients know it. */
export function validateDriverUpdate (spec: CSIDriverSpec, old: CSIDriverSpec, at: string, report: Report): void {
  if (spec.attachRequired !== old.attachRequired) invalid(report, `${at}.attachedRequired`, spec.attachRequired, 'field is immutable')
}

export function validateNodeDrivers ({ drivers = [] }: CSINodeSpec, at: string, report: Report): void {
  for (const [index, driver] of drivers.entries()) {
    const field = `${at}.drivers[${index}]`
    validateNodeDriver(driver, field, report)
    if (drivers.findIndex(({ name }) => name === driver.name) < index) duplicate(report, `${field}.name`, driver.name)
  }
}

function validateNodeDriver ({ name, nodeID, allocatable, topologyKeys = [] }: CSINodeDriver, at: string, report: Report): void {
  validateDriver(name, `${at}.name`, report)
  if (nodeID.length > MOST_NODE_ID) invalid(report, `${at}.nodeID`, nodeID, `must be ${MOST_NODE_ID} characters or less`)
  nonnegative(report, `${at}.allocatable.count`, allocatable?.count)
  for (const [index, key] of topologyKeys.entries()) {
    if (key === '') required(report, at, 'a topology key cannot be empty')
    if (topologyKeys.indexOf(key) < index) duplicate(report, at, key)
    named(report, at, key, qualifiedName)
  }
}

/** Drivers come and go; each is as it was installed. */
export function validateNodeDriversUpdate ({ drivers = [] }: CSINodeSpec, { drivers: before = [] }: CSINodeSpec, report: Report): void {
  for (const old of before) {
    const driver = drivers.find(({ name }) => name === old.name)
    if (driver !== undefined && !sameValue(driver, old)) invalid(report, 'CSINodeDriver', driver, 'field is immutable')
  }
}

interface Capacity { readonly storageClassName: string, readonly capacity?: string | undefined, readonly maximumVolumeSize?: string | undefined, readonly nodeTopology?: LabelSelector | undefined }

export function validateStorageCapacity (object: Capacity, report: Report): void {
  named(report, 'storageClassName', object.storageClassName, dnsSubdomain)
  for (const field of ['capacity', 'maximumVolumeSize'] as const) {
    const amount = object[field]
    if (amount !== undefined && isNegative(amount)) invalid(report, field, amount, 'must be greater than or equal to 0')
  }
  if (object.nodeTopology !== undefined) validateLabelSelector(object.nodeTopology, 'nodeTopology', report)
}
