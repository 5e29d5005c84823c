/** Claims, classes and slices, for v1 and v1beta2 of resource.orch.io. */
import { list, one, string } from '../../language/declare.js'
import {
  adminAccess, className, declareClaims, declareClasses, declareSelection, declareSubRequest, packageOf,
  requestedFields
} from './claim-declarations.js'
import { countDevices } from './defaults.js'
import { declareDeviceParts, declareSlices, deviceFields } from './slice-declarations.js'

const NUMBERS = { tolerations: 6, capacity: 7 }

/** The messages of one version. */
export function declare (version: 'v1' | 'v1beta2') {
  const { message } = packageOf(version)
  const selection = declareSelection(version)
  const DeviceSubRequest = declareSubRequest(version, selection, NUMBERS)
  const { selectors, allocationMode, count, tolerations, capacity } = requestedFields(selection, 2, NUMBERS)

  const ExactDeviceRequest = message('ExactDeviceRequest', 'Devices of one class that are asked for.', {
    deviceClassName: className(1),
    selectors,
    allocationMode,
    count,
    adminAccess: adminAccess(5),
    tolerations,
    capacity
  }, { defaults: countDevices })

  const DeviceRequest = message('DeviceRequest', 'Devices that are asked for.', {
    name: string(1, 'Name of the request, unique in its claim.', { required: true, mayBeEmpty: true }),
    exactly: one(2, 'Devices of one class.', ExactDeviceRequest, { pointer: true }),
    firstAvailable: list(3, 'Alternatives, of which the first that can be had is taken.', DeviceSubRequest, {
      listType: 'atomic', gate: 'DRAPrioritizedList'
    })
  })

  const parts = declareDeviceParts(version)
  const Device = message('Device', 'A device, by name.', {
    name: string(1, 'Name of the device, unique in its pool.', { required: true, mayBeEmpty: true }),
    ...deviceFields(parts, 2)
  })

  return {
    ...selection, DeviceSubRequest, ExactDeviceRequest, DeviceRequest,
    ...declareClaims(version, selection, DeviceRequest), ...declareClasses(version, selection), ...parts, Device,
    ...declareSlices(version, parts, Device, { pointer: true })
  }
}
