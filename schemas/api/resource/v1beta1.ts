/** What resource.orch.io/v1beta1 has: requests and devices have other forms than in later versions. */
import { list, one, string, type Static } from '../../language/declare.js'
import {
  adminAccess, declareClaims, declareClasses, declareSelection, declareSubRequest, packageOf, requestedFields
} from './claim-declarations.js'
import { countNamed } from './defaults.js'
import { declareDeviceParts, declareSlices, deviceFields } from './slice-declarations.js'

export const API_VERSION = 'resource.orch.io/v1beta1'

const { message } = packageOf('v1beta1')
const selection = declareSelection('v1beta1')
export const {
  CELDeviceSelector, DeviceSelector, OpaqueDeviceConfiguration, DeviceConfiguration, DeviceToleration,
  CapacityRequirements
} = selection

export const DeviceSubRequest = declareSubRequest('v1beta1', selection, { tolerations: 7, capacity: 8 })

const { selectors, allocationMode, count, tolerations, capacity } =
  requestedFields(selection, 3, { tolerations: 8, capacity: 9 }, {})

export const DeviceRequest = message('DeviceRequest', 'Devices that are asked for.', {
  name: string(1, 'Name of the request, unique in its claim.', { required: true, mayBeEmpty: true }),
  deviceClassName: string(2, 'Name of the class of the devices; empty with alternatives.', { written: true }),
  selectors,
  allocationMode,
  count,
  adminAccess: adminAccess(6),
  firstAvailable: list(7, 'Alternatives, of which the first that can be had is taken.', DeviceSubRequest, {
    listType: 'atomic', gate: 'DRAPrioritizedList'
  }),
  tolerations,
  capacity
}, { defaults: countNamed })

export const {
  DeviceConstraint, DeviceClaimConfiguration, DeviceClaim, ResourceClaimSpec, DeviceRequestAllocationResult,
  DeviceAllocationConfiguration, DeviceAllocationResult, AllocationResult, ResourceClaimConsumerReference,
  NetworkDeviceData, AllocatedDeviceStatus, ResourceClaimStatus, ResourceClaim, ResourceClaimTemplateSpec,
  ResourceClaimTemplate
} = declareClaims('v1beta1', selection, DeviceRequest)

export const {
  DeviceClassConfiguration, DeviceClassSpec, DeviceClass
} = declareClasses('v1beta1', selection)

const parts = declareDeviceParts('v1beta1')
export const {
  DeviceAttribute, CapacityRequestPolicyRange, CapacityRequestPolicy, DeviceCapacity, Counter, CounterSet,
  DeviceCounterConsumption, DeviceTaint, NodeAllocatableResourceMapping
} = parts

export const BasicDevice = message('BasicDevice', 'A device.', deviceFields(parts, 1))

export const Device = message('Device', 'A device, by name.', {
  name: string(1, 'Name of the device, unique in its pool.', { required: true, mayBeEmpty: true }),
  basic: one(2, 'The device.', BasicDevice, { pointer: true })
})

export const {
  ResourcePool, ResourceSliceSpec, ResourceSlice
} = declareSlices('v1beta1', parts, Device, {})

export type CELDeviceSelector = Static<typeof CELDeviceSelector>
export type DeviceSelector = Static<typeof DeviceSelector>
export type OpaqueDeviceConfiguration = Static<typeof OpaqueDeviceConfiguration>
export type DeviceConfiguration = Static<typeof DeviceConfiguration>
export type DeviceToleration = Static<typeof DeviceToleration>
export type CapacityRequirements = Static<typeof CapacityRequirements>
export type DeviceSubRequest = Static<typeof DeviceSubRequest>
export type DeviceRequest = Static<typeof DeviceRequest>
export type DeviceConstraint = Static<typeof DeviceConstraint>
export type DeviceClaimConfiguration = Static<typeof DeviceClaimConfiguration>
export type DeviceClaim = Static<typeof DeviceClaim>
export type ResourceClaimSpec = Static<typeof ResourceClaimSpec>
export type DeviceRequestAllocationResult = Static<typeof DeviceRequestAllocationResult>
export type DeviceAllocationConfiguration = Static<typeof DeviceAllocationConfiguration>
export type DeviceAllocationResult = Static<typeof DeviceAllocationResult>
export type AllocationResult = Static<typeof AllocationResult>
export type ResourceClaimConsumerReference = Static<typeof ResourceClaimConsumerReference>
export type NetworkDeviceData = Static<typeof NetworkDeviceData>
export type AllocatedDeviceStatus = Static<typeof AllocatedDeviceStatus>
export type ResourceClaimStatus = Static<typeof ResourceClaimStatus>
export type ResourceClaim = Static<typeof ResourceClaim>
export type ResourceClaimTemplateSpec = Static<typeof ResourceClaimTemplateSpec>
export type ResourceClaimTemplate = Static<typeof ResourceClaimTemplate>
export type DeviceClassConfiguration = Static<typeof DeviceClassConfiguration>
export type DeviceClassSpec = Static<typeof DeviceClassSpec>
export type DeviceClass = Static<typeof DeviceClass>
export type DeviceAttribute = Static<typeof DeviceAttribute>
export type CapacityRequestPolicyRange = Static<typeof CapacityRequestPolicyRange>
export type CapacityRequestPolicy = Static<typeof CapacityRequestPolicy>
export type DeviceCapacity = Static<typeof DeviceCapacity>
export type Counter = Static<typeof Counter>
export type CounterSet = Static<typeof CounterSet>
export type DeviceCounterConsumption = Static<typeof DeviceCounterConsumption>
export type DeviceTaint = Static<typeof DeviceTaint>
export type NodeAllocatableResourceMapping = Static<typeof NodeAllocatableResourceMapping>
export type BasicDevice = Static<typeof BasicDevice>
export type Device = Static<typeof Device>
export type ResourcePool = Static<typeof ResourcePool>
export type ResourceSliceSpec = Static<typeof ResourceSliceSpec>
export type ResourceSlice = Static<typeof ResourceSlice>
