/**
 * What is asked of devices and what a claim got, for all versions of resource.orch.io. v1beta1 has requests of another
 * form. Rules of claims and slices are run in steps (`rules/`), since what they check may be long.
 */
import { NodeSelector } from '../core/affinity.js'
import { apiPackage, bool, inline, int64, list, map, one, string } from '../../language/declare.js'
import type { Message } from '../../language/types.js'
import { Condition } from '../../meta/answers.js'
import { metadata } from '../../meta/object.js'
import { Quantity } from '../../meta/quantity.js'
import { RawExtension } from '../../meta/runtime.js'
import { Time } from '../../meta/scalars.js'
import { countDevices } from './defaults.js'

export type DeviceVersion = 'v1' | 'v1beta2' | 'v1beta1' | 'v1alpha3'

/** They differ in the numbers of the last fields of an alternative. */
export interface Numbers { readonly tolerations: number, readonly capacity: number }

export const EFFECTS = ['None', 'NoSchedule', 'NoExecute']
const ATOMIC = { listType: 'atomic' } as const
const EMPTY = { required: true, mayBeEmpty: true } as const
const BINDING = { ...ATOMIC, gate: 'DRADeviceBindingConditions' } as const

export const packageOf = (version: DeviceVersion) =>
  apiPackage('resource.orch.io', version, `io.orch.api.resource.${version}`)

/** What requests and classes have in common. */
export function declareSelection (version: DeviceVersion) {
  const { message } = packageOf(version)

  const CELDeviceSelector = message('CELDeviceSelector', 'A condition in CEL that devices must meet.', {
    expression: string(1, 'Expression over `device`, its driver, attributes and capacity; true or false.', EMPTY)
  })

  const DeviceSelector = message('DeviceSelector', 'A condition that devices must meet.', {
    cel: one(1, 'The condition in CEL.', CELDeviceSelector, { pointer: true })
  })

  const OpaqueDeviceConfiguration = message('OpaqueDeviceConfiguration', 'Settings that only a driver understands.', {
    driver: string(1, 'Name of the driver.', EMPTY),
    parameters: one(2, 'The settings, an object of any form.', RawExtension, { required: true })
  })

  const DeviceConfiguration = message('DeviceConfiguration', 'Settings for devices.', {
    opaque: one(1, 'Settings that only a driver understands.', OpaqueDeviceConfiguration, { pointer: true })
  })

  const DeviceToleration = message('DeviceToleration', 'Taints of devices that a claim tolerates.', {
    key: string(1, 'Key of the taints; empty for all, with operator Exists.'),
    operator: string(2, 'How values are compared: Exists or Equal.', {
      values: ['Exists', 'Equal'], closed: 'ruled', default: 'Equal'
    }),
    value: string(3, 'Value of the taints; empty with operator Exists.'),
    effect: string(4, 'Effect of the taints; empty for all.', { values: EFFECTS, closed: 'ruled' }),
    tolerationSeconds: int64(5, 'Seconds that a taint with effect NoExecute is tolerated; unset for ever.', {
      pointer: true
    })
  })

  const CapacityRequirements = message('CapacityRequirements', 'How much of each capacity of a device is needed.', {
    requests: map(1, 'Amounts by the name of the capacity.', Quantity)
  })
  return {
    CELDeviceSelector, DeviceSelector, OpaqueDeviceConfiguration, DeviceConfiguration, DeviceToleration,
    CapacityRequirements
  }
}

type Selection = ReturnType<typeof declareSelection>

/** The fields of a request after its class, from this number on. @param mode by default */
export function requestedFields (
  { DeviceSelector, DeviceToleration, CapacityRequirements }: Selection, first: number, numbers: Numbers,
  mode: { readonly default?: string } = { default: 'ExactCount' }
) {
  return {
    selectors: list(first, 'Conditions that devices must meet, besides those of the class.', DeviceSelector, ATOMIC),
    allocationMode: string(first + 1, 'ExactCount for a number of devices, All for all that match.', mode),
    count: int64(first + 2, 'Number of devices, with ExactCount; by default 1.'),
    tolerations: list(numbers.tolerations, 'Taints of devices that do not matter.', DeviceToleration, {
      ...ATOMIC, gate: 'DRADeviceTaints'
    }),
    capacity: one(numbers.capacity, 'How much of each capacity is needed.', CapacityRequirements, {
      pointer: true, gate: 'DRAConsumableCapacity'
    })
  }
}

export const className = (number: number) => string(number, 'Name of the class of the devices.', EMPTY)
export const adminAccess = (number: number) => bool(number, 'Access for administration, whoever else has the device.', {
  pointer: true, gate: 'DRAAdminAccess'
})

export function declareSubRequest (version: DeviceVersion, selection: Selection, numbers: Numbers) {
  const { message } = packageOf(version)
  return message('DeviceSubRequest', 'An alternative of a request.', {
    name: string(1, 'Name of the alternative, unique in its request.', EMPTY),
    deviceClassName: className(2),
    ...requestedFields(selection, 3, numbers)
  }, { defaults: countDevices })
}

/** What claims and their templates have around requests. @param DeviceRequest a request of this version */
export function declareClaims<R> (
  version: DeviceVersion, { DeviceConfiguration, DeviceToleration }: Selection, DeviceRequest: Message<R>
) {
  const { kind, message } = packageOf(version)

  const DeviceConstraint = message('DeviceConstraint', 'What devices of several requests must have in common.', {
    requests: list(1, 'Names of the requests, or REQUEST/ALTERNATIVE; empty for all.', 'string', ATOMIC),
    matchAttribute: string(2, 'Attribute that has the same value for all devices.', { pointer: true }),
    distinctAttribute: string(3, 'Attribute that has another value for each device.', {
      pointer: true, gate: 'DRAConsumableCapacity'
    })
  })

  const DeviceClaimConfiguration = message('DeviceClaimConfiguration', 'Settings for devices of a claim.', {
    requests: list(1, 'Names of the requests, or REQUEST/ALTERNATIVE; empty for all.', 'string', ATOMIC),
    deviceConfiguration: inline(2, 'The settings.', DeviceConfiguration)
  })

  const DeviceClaim = message('DeviceClaim', 'Which devices are claimed.', {
    requests: list(1, 'What is asked for, each by a name.', DeviceRequest, { ...ATOMIC, written: true }),
    constraints: list(2, 'What devices must have in common.', DeviceConstraint, ATOMIC),
    config: list(3, 'Settings for the devices.', DeviceClaimConfiguration, ATOMIC)
  })

  const ResourceClaimSpec = message('ResourceClaimSpec', 'What is claimed.', {
    devices: one(1, 'Which devices are claimed.', DeviceClaim, { written: true, ruled: true })
  })

  const DeviceRequestAllocationResult = message('DeviceRequestAllocationResult', 'A device for a request.', {
    request: string(1, 'Name of the request, or REQUEST/ALTERNATIVE.', EMPTY),
    driver: string(2, 'Name of the driver of the device.', EMPTY),
    pool: string(3, 'Name of the pool of the device.', EMPTY),
    device: string(4, 'Name of the device in its pool.', EMPTY),
    adminAccess: adminAccess(5),
    tolerations: list(6, 'Taints that were tolerated.', DeviceToleration, { ...ATOMIC, gate: 'DRADeviceTaints' }),
    bindingConditions: list(7, 'Conditions that must be true before a pod is bound.', 'string', BINDING),
    bindingFailureConditions: list(8, 'Conditions of which one that is true undoes the allocation.', 'string', BINDING),
    shareID: string(9, 'Which share of a device that several claims have.', {
      pointer: true, gate: 'DRAConsumableCapacity'
    }),
    consumedCapacity: map(10, 'How much of each capacity was given.', Quantity, { gate: 'DRAConsumableCapacity' })
  })

  const DeviceAllocationConfiguration = message('DeviceAllocationConfiguration', 'Settings for allocated devices.', {
    source: string(1, 'Where the settings come from: FromClass or FromClaim.', {
      ...EMPTY, values: ['FromClass', 'FromClaim'], closed: 'ruled'
    }),
    requests: list(2, 'Names of the requests, or REQUEST/ALTERNATIVE; empty for all.', 'string', ATOMIC),
    deviceConfiguration: inline(3, 'The settings.', DeviceConfiguration)
  })

  const DeviceAllocationResult = message('DeviceAllocationResult', 'Which devices a claim got.', {
    results: list(1, 'The devices.', DeviceRequestAllocationResult, ATOMIC),
    config: list(2, 'Settings for the devices, of classes first.', DeviceAllocationConfiguration, ATOMIC)
  })

  const AllocationResult = message('AllocationResult', 'What a claim got.', {
    devices: one(1, 'The devices.', DeviceAllocationResult),
    nodeSelector: one(3, 'Nodes on which it is available; unset for all.', NodeSelector, { pointer: true }),
    allocationTimestamp: one(5, 'When it was allocated.', Time, { pointer: true, gate: 'DRADeviceBindingConditions' })
  })

  const ResourceClaimConsumerReference = message('ResourceClaimConsumerReference', 'Who may use a claim.', {
    apiGroup: string(1, 'API group of the object; empty for the core group.', { protoName: 'aPIGroup' }),
    resource: string(3, 'Resource of the object in plural, such as pods.', EMPTY),
    name: string(4, 'Name of the object.', EMPTY),
    uid: string(5, 'UID of the object.', EMPTY)
  })

  const NetworkDeviceData = message('NetworkDeviceData', 'What is known of a device of a network.', {
    interfaceName: string(1, 'Name of the interface.'),
    ips: list(2, 'Addresses of the interface, with the length of their prefix.', 'string', ATOMIC),
    hardwareAddress: string(3, 'Hardware address of the interface.')
  })

  const AllocatedDeviceStatus = message('AllocatedDeviceStatus', 'The state of a device that a claim has.', {
    driver: string(1, 'Name of the driver of the device.', EMPTY),
    pool: string(2, 'Name of the pool of the device.', EMPTY),
    device: string(3, 'Name of the device in its pool.', EMPTY),
    shareID: string(7, 'Which share of a device that several claims have.', {
      pointer: true, gate: 'DRAConsumableCapacity'
    }),
    conditions: list(4, 'What was found about the device.', Condition, {
      written: true, listType: 'map', listMapKeys: ['type']
    }),
    data: one(5, 'What the driver says of it, an object of any form.', RawExtension, { pointer: true }),
    networkData: one(6, 'What is known of it in a network.', NetworkDeviceData, { pointer: true })
  })

  const ResourceClaimStatus = message('ResourceClaimStatus', 'What is observed of a claim.', {
    allocation: one(1, 'What the claim got; unset while nothing is allocated.', AllocationResult, {
      pointer: true, immutable: 'ruled'
    }),
    reservedFor: list(2, 'Who may use it.', ResourceClaimConsumerReference, {
      listType: 'map', listMapKeys: ['uid'], patchStrategy: 'merge', patchMergeKey: 'uid'
    }),
    devices: list(4, 'The state of each device, as drivers say.', AllocatedDeviceStatus, {
      listType: 'map', listMapKeys: ['driver', 'device', 'pool', 'shareID'], gate: 'DRAResourceClaimDeviceStatus'
    })
  })

  const ResourceClaim = kind('ResourceClaim', 'A claim to devices, which pods may use.', {
    metadata,
    spec: one(2, 'What is claimed; does not change.', ResourceClaimSpec, { required: true, immutable: true }),
    status: one(3, 'What is observed of the claim.', ResourceClaimStatus, { ruled: true })
  })

  const ResourceClaimTemplateSpec = message('ResourceClaimTemplateSpec', 'Claims that are made of a template.', {
    metadata,
    spec: one(2, 'What they claim.', ResourceClaimSpec, { required: true })
  })

  const ResourceClaimTemplate = kind('ResourceClaimTemplate', 'What claims are made of, one for each pod.', {
    metadata,
    spec: one(2, 'The claims; does not change.', ResourceClaimTemplateSpec, { required: true, immutable: true })
  })

  return {
    DeviceConstraint, DeviceClaimConfiguration, DeviceClaim, ResourceClaimSpec, DeviceRequestAllocationResult,
    DeviceAllocationConfiguration, DeviceAllocationResult, AllocationResult, ResourceClaimConsumerReference,
    NetworkDeviceData, AllocatedDeviceStatus, ResourceClaimStatus, ResourceClaim, ResourceClaimTemplateSpec,
    ResourceClaimTemplate
  }
}

export function declareClasses (version: DeviceVersion, { DeviceSelector, DeviceConfiguration }: Selection) {
  const { kind, message } = packageOf(version)

  const DeviceClassConfiguration = message('DeviceClassConfiguration', 'Settings for devices of a class.', {
    deviceConfiguration: inline(1, 'The settings.', DeviceConfiguration)
  })

  const DeviceClassSpec = message('DeviceClassSpec', 'Which devices are of a class.', {
    selectors: list(1, 'Conditions that each device must meet.', DeviceSelector, ATOMIC),
    config: list(2, 'Settings for the devices.', DeviceClassConfiguration, ATOMIC),
    extendedResourceName: string(4, 'Resource by which containers may ask for a device of the class.', {
      pointer: true, gate: 'DRAExtendedResource'
    })
  })

  const DeviceClass = kind('DeviceClass', 'A class of devices, which an administrator defines.', {
    metadata,
    spec: one(2, 'Which devices are of the class.', DeviceClassSpec, { required: true, ruled: true })
  })

  return { DeviceClassConfiguration, DeviceClassSpec, DeviceClass }
}
