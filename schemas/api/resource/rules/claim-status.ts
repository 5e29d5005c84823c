/** Validation of the status of claims: what was allocated, for whom, and the state of the devices. */
import type { Report } from '../../../language/types.js'
import { sameValue } from '../../../language/values.js'
import { validatePart } from '../../../language/validation.js'
import { canonicalForm } from '../../../rules/address-forms.js'
import { validateConditions } from '../../../rules/conditions.js'
import { forbidden, invalid, notSupported, required, tooLong } from '../../../rules/findings.js'
import { parseRange } from '../../../rules/net.js'
import type { Steps } from '../../../steps.js'
import { NodeSelector } from '../../core/affinity.js'
import type {
  AllocatedDeviceStatus, AllocationResult, NetworkDeviceData, ResourceClaim, ResourceClaimStatus
} from '../v1.js'
import { requestNames, validateReference, validateReferences, type RequestNames } from './claims.js'
import { checkBinding, checkDevice, checkDriver, checkPool, checkShare, checkUnique, isShort } from './names.js'
import { MOST, validateConfiguration, validateSettings, validateTolerations } from './selection.js'

const MOST_CONSUMERS = 256
const MOST_CONDITIONS = 8
const MOST_ADDRESSES = 16
const [MAX_INTERFACE, MAX_HARDWARE] = [256, 128]
const SOURCES = ['FromClaim', 'FromClass']

interface DeviceName {
  readonly driver: string
  readonly pool: string
  readonly device: string
  readonly shareID?: string | undefined
}

/** As messages and comparisons have it. */
export const idOf = ({ driver, pool, device, shareID }: DeviceName): string =>
  `${driver}/${pool}/${device}${shareID === undefined ? '' : `/${shareID}`}`

export function * validateClaimStatus (claim: ResourceClaim, old: ResourceClaim, report: Report): Steps<void> {
  const { status, status: { allocation, reservedFor = [], devices = [] } } = claim
  const at = 'status'
  validateConsumers(status, `${at}.reservedFor`, report)
  const allocated = new Set((allocation?.devices.results ?? []).map(idOf))
  // As many as can be allocated.
  if (isShort(devices, MOST, `${at}.devices`, report)) {
    for (const [index, device] of devices.entries()) {
      validateDeviceStatus(device, allocated, `${at}.devices[${index}]`, report)
    }
    checkUnique(devices, idOf, `${at}.devices`, report)
  }
  yield
  if (reservedFor.length > 0 && allocation === undefined) {
    forbidden(report, `${at}.reservedFor`, 'may not be specified when `allocated` is not set')
  } else if (claim.metadata.deletionTimestamp !== undefined) {
    const before = new Set((old.status.reservedFor ?? []).map(({ uid }) => uid))
    if (reservedFor.some(({ uid }) => !before.has(uid))) {
      forbidden(
        report, `${at}.reservedFor`,
        'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
      )
    }
  }
  const before = old.status.allocation
  if (allocation === undefined) return
  if (before === undefined) {
    yield * validateAllocation(allocation, requestNames(claim.spec.devices), `${at}.allocation`, report)
  } else if (!sameValue(allocation, before)) invalid(report, `${at}.allocation`, allocation, 'field is immutable')
}

function validateConsumers ({ reservedFor = [] }: ResourceClaimStatus, at: string, report: Report): void {
  if (!isShort(reservedFor, MOST_CONSUMERS, at, report)) return
  for (const [index, { resource, name, uid }] of reservedFor.entries()) {
    for (const [field, value] of Object.entries({ resource, name, uid })) {
      if (value === '') required(report, `${at}[${index}].${field}`)
    }
  }
  checkUnique(reservedFor, ({ uid }) => uid, at, report)
}

function validateDeviceStatus (
  device: AllocatedDeviceStatus, allocated: ReadonlySet<string>, at: string, report: Report
): void {
  const { driver, pool, device: name, shareID, conditions = [], data, networkData } = device
  checkDriver(driver, `${at}.driver`, report)
  checkPool(pool, `${at}.pool`, report)
  checkDevice(name, `${at}.device`, report)
  checkShare(shareID, `${at}.shareID`, report)
  if (!allocated.has(idOf(device))) invalid(report, at, idOf(device), 'must be an allocated device in the claim')
  isShort(conditions, MOST_CONDITIONS, `${at}.conditions`, report)
  validateConditions(conditions, `${at}.conditions`, report)
  if (data !== undefined) validateSettings(data, `${at}.data`, report)
  if (networkData !== undefined) validateNetwork(networkData, `${at}.networkData`, report)
}

function validateNetwork (
  { interfaceName = '', ips = [], hardwareAddress = '' }: NetworkDeviceData, at: string, report: Report
): void {
  if (Buffer.byteLength(interfaceName) > MAX_INTERFACE) tooLong(report, `${at}.interfaceName`, MAX_INTERFACE)
  if (Buffer.byteLength(hardwareAddress) > MAX_HARDWARE) tooLong(report, `${at}.hardwareAddress`, MAX_HARDWARE)
  if (!isShort(ips, MOST_ADDRESSES, `${at}.ips`, report)) return
  for (const [index, ip] of ips.entries()) {
    const form = canonicalForm(ip, 'cidr')
    if (parseRange(ip) === undefined) {
      const why = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'
      invalid(report, `${at}.ips[${index}]`, ip, why)
    } else if (form !== undefined) invalid(report, `${at}.ips[${index}]`, ip, `must be in canonical form ("${form}")`)
  }
  checkUnique(ips, ip => ip, `${at}.ips`, report)
}

function * validateAllocation (
  { devices: { results = [], config = [] }, nodeSelector }: AllocationResult, names: RequestNames, at: string,
  report: Report
): Steps<void> {
  if (isShort(results, MOST, `${at}.devices.results`, report)) {
    for (const [index, result] of results.entries()) {
      const path = `${at}.devices.results[${index}]`
      validateReference(result.request, names, `${path}.request`, report)
      checkDriver(result.driver, `${path}.driver`, report)
      checkPool(result.pool, `${path}.pool`, report)
      checkDevice(result.device, `${path}.device`, report)
      checkBinding(result, path, report)
      yield * validateTolerations(result.tolerations, `${path}.tolerations`, report)
      checkShare(result.shareID, `${path}.shareID`, report)
    }
  }
  if (isShort(config, 2 * MOST, `${at}.devices.config`, report)) {
    for (const [index, { source, requests, ...settings }] of config.entries()) {
      const path = `${at}.devices.config[${index}]`
      const known: string = source
      if (known === '') required(report, `${path}.source`)
      else if (!SOURCES.includes(known)) notSupported(report, `${path}.source`, known, SOURCES)
      validateReferences(requests, names, `${path}.requests`, report)
      validateConfiguration(settings, path, report)
    }
  }
  if (nodeSelector !== undefined) validatePart(NodeSelector, nodeSelector, `${at}.nodeSelector`, report)
}

/** Drops the state of devices that the claim had and has no more. */
export function forgetDeallocated (claim: ResourceClaim, old: ResourceClaim): void {
  const results = ({ status: { allocation } }: ResourceClaim) => allocation?.devices.results ?? []
  const device = ({ driver, pool, device }: DeviceName): string => `${driver}/${pool}/${device}`
  const now = new Set(results(claim).map(device))
  const gone = new Set(results(old).map(device).filter(name => !now.has(name)))
  if (gone.size === 0 || claim.status.devices === undefined) return
  const left = claim.status.devices.filter(status => !gone.has(device(status)))
  if (left.length === 0) delete claim.status.devices
  else claim.status.devices = left
}
