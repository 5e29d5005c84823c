/** What resource.orch.io/v1beta2 has. */
import type { Static } from '../../language/declare.js'
import { declare } from './declarations.js'
import { declareTaintRules } from './taint-declarations.js'

export const API_VERSION = 'resource.orch.io/v1beta2'

export const {
  CELDeviceSelector, DeviceSelector, OpaqueDeviceConfiguration, DeviceConfiguration, DeviceToleration,
  CapacityRequirements, DeviceSubRequest, ExactDeviceRequest, DeviceRequest, DeviceConstraint,
  DeviceClaimConfiguration, DeviceClaim, ResourceClaimSpec, DeviceRequestAllocationResult,
  DeviceAllocationConfiguration, DeviceAllocationResult, AllocationResult, ResourceClaimConsumerReference,
  NetworkDeviceData, AllocatedDeviceStatus, ResourceClaimStatus, ResourceClaim, ResourceClaimTemplateSpec,
  ResourceClaimTemplate, DeviceClassConfiguration, DeviceClassSpec, DeviceClass, DeviceAttribute,
  CapacityRequestPolicyRange, CapacityRequestPolicy, DeviceCapacity, Counter, CounterSet, DeviceCounterConsumption,
  DeviceTaint, NodeAllocatableResourceMapping, Device, ResourcePool, ResourceSliceSpec, ResourceSlice
} = declare('v1beta2')

export const { DeviceTaintSelector, DeviceTaintRuleSpec, DeviceTaintRuleStatus, DeviceTaintRule } =
  declareTaintRules('v1beta2', DeviceTaint)

export type CELDeviceSelector = Static<typeof CELDeviceSelector>
export type DeviceSelector = Static<typeof DeviceSelector>
export type OpaqueDeviceConfiguration = Static<typeof OpaqueDeviceConfiguration>
export type DeviceConfiguration = Static<typeof DeviceConfiguration>
export type DeviceToleration = Static<typeof DeviceToleration>
export type CapacityRequirements = Static<typeof CapacityRequirements>
export type DeviceSubRequest = Static<typeof DeviceSubRequest>
export type ExactDeviceRequest = Static<typeof ExactDeviceRequest>
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
export type Device = Static<typeof Device>
export type ResourcePool = Static<typeof ResourcePool>
export type ResourceSliceSpec = Static<typeof ResourceSliceSpec>
export type ResourceSlice = Static<typeof ResourceSlice>
export type DeviceTaintSelector = Static<typeof DeviceTaintSelector>
export type DeviceTaintRuleSpec = Static<typeof DeviceTaintRuleSpec>
export type DeviceTaintRuleStatus = Static<typeof DeviceTaintRuleStatus>
export type DeviceTaintRule = Static<typeof DeviceTaintRule>
