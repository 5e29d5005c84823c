/** The devices that drivers offer, for all versions of resource.orch.io. v1beta1 has devices of another form. */
import { NodeSelector } from '../core/affinity.js'
import { bool, int64, list, map, one, string } from '../../language/declare.js'
import type { Message } from '../../language/types.js'
import { metadata } from '../../meta/object.js'
import { Quantity } from '../../meta/quantity.js'
import { packageOf, type DeviceVersion } from './claim-declarations.js'
import { multiplyOnce } from './defaults.js'
import { declareTaint } from './taint-declarations.js'

const ATOMIC = { listType: 'atomic' } as const
const EMPTY = { required: true, mayBeEmpty: true } as const
const LISTED = { ...ATOMIC, gate: 'DRAListTypeAttributes' } as const
const PARTITION = 'DRAPartitionableDevices'
const BINDING = 'DRADeviceBindingConditions'

/** What devices are made of. */
export function declareDeviceParts (version: DeviceVersion) {
  const { message } = packageOf(version)

  const DeviceAttribute = message('DeviceAttribute', 'The value of an attribute; one member is set.', {
    int: int64(2, 'A number.', { pointer: true }),
    bool: bool(3, 'True or false.', { pointer: true }),
    string: string(4, 'Text.', { pointer: true }),
    version: string(5, 'A semantic version.', { pointer: true }),
    ints: list(6, 'Numbers.', 'int64', LISTED),
    bools: list(7, 'Values that are true or false.', 'bool', LISTED),
    strings: list(8, 'Texts.', 'string', LISTED),
    versions: list(9, 'Semantic versions.', 'string', LISTED)
  })

  const CapacityRequestPolicyRange = message('CapacityRequestPolicyRange', 'Amounts that may be consumed.', {
    min: one(1, 'The smallest amount.', Quantity, { required: true, pointer: true }),
    max: one(2, 'The largest amount.', Quantity, { pointer: true }),
    step: one(3, 'Amounts are the smallest one and multiples of this more.', Quantity, { pointer: true })
  })

  const CapacityRequestPolicy = message('CapacityRequestPolicy', 'How much of a capacity a request consumes.', {
    default: one(1, 'Amount for requests that do not say one.', Quantity, { written: true, pointer: true }),
    validValues: list(3, 'The amounts there are, ascending.', Quantity, ATOMIC),
    validRange: one(4, 'The range of amounts.', CapacityRequestPolicyRange, { pointer: true })
  })

  const DeviceCapacity = message('DeviceCapacity', 'How much of something a device has.', {
    value: one(1, 'The amount.', Quantity, { required: true }),
    requestPolicy: one(2, 'How much of it a request consumes, where several share the device.', CapacityRequestPolicy, {
      pointer: true, gate: 'DRAConsumableCapacity'
    })
  })

  const Counter = message('Counter', 'An amount of something that devices share.', {
    value: one(1, 'The amount.', Quantity, { required: true })
  })

  const CounterSet = message('CounterSet', 'Counters of which devices consume.', {
    name: string(1, 'Name of the set, unique in its pool.', EMPTY),
    counters: map(2, 'The counters by name.', Counter, { required: true })
  })

  const DeviceCounterConsumption = message('DeviceCounterConsumption', 'What a device consumes of counters.', {
    counterSet: string(1, 'Name of the set of counters.', EMPTY),
    counters: map(2, 'What is consumed, by the name of the counter.', Counter, { required: true })
  })

  const DeviceTaint = declareTaint(version)

  const NodeAllocatableResourceMapping = message(
    'NodeAllocatableResourceMapping', 'How a device counts against a resource of its node.', {
      capacityKey: string(1, 'Capacity of the device that counts.', { pointer: true }),
      allocationMultiplier: one(2, 'By what it is multiplied; by default 1.', Quantity, { pointer: true })
    }, { defaults: multiplyOnce }
  )

  return {
    DeviceAttribute, CapacityRequestPolicyRange, CapacityRequestPolicy, DeviceCapacity, Counter, CounterSet,
    DeviceCounterConsumption, DeviceTaint, NodeAllocatableResourceMapping
  }
}

type Parts = ReturnType<typeof declareDeviceParts>

/** The fields of a device besides its name, from this number on. */
export function deviceFields (parts: Parts, first: number) {
  const { DeviceAttribute, DeviceCapacity, DeviceCounterConsumption, DeviceTaint } = parts
  return {
    attributes: map(first, 'Attributes by name, in the domain of the driver or of another.', DeviceAttribute),
    capacity: map(first + 1, 'How much the device has of what, by name.', DeviceCapacity),
    consumesCounters: list(first + 2, 'What it consumes of counters of the pool.', DeviceCounterConsumption, {
      ...ATOMIC, gate: PARTITION
    }),
    nodeName: string(first + 3, 'Node of the device, where each has its own.', { pointer: true, gate: PARTITION }),
    nodeSelector: one(first + 4, 'Nodes of the device, where each device has its own.', NodeSelector, {
      pointer: true, gate: PARTITION
    }),
    allNodes: bool(first + 5, 'Every node has access to the device.', { pointer: true, gate: PARTITION }),
    taints: list(first + 6, 'Reasons not to use the device.', DeviceTaint, { ...ATOMIC, gate: 'DRADeviceTaints' }),
    bindsToNode: bool(first + 7, 'Its use is bound to the node that the pod was given.', {
      pointer: true, gate: BINDING
    }),
    bindingConditions: list(first + 8, 'Conditions that must be true before a pod is bound.', 'string', {
      ...ATOMIC, gate: BINDING
    }),
    bindingFailureConditions: list(
      first + 9, 'Conditions of which one that is true undoes the allocation.', 'string', { ...ATOMIC, gate: BINDING }
    ),
    allowMultipleAllocations: bool(first + 10, 'Several requests may have the device.', {
      pointer: true, gate: 'DRAConsumableCapacity'
    }),
    nodeAllocatableResourceMappings: map(
      first + 11, 'How the device counts against resources of its node.', parts.NodeAllocatableResourceMapping,
      { gate: 'DRANodeAllocatableResources' }
    )
  }
}

/** What slices have around devices. @param Device a device of this version @param written of unset node and nodes */
export function declareSlices<D, O extends { readonly pointer?: true }> (
  version: DeviceVersion, { CounterSet }: Parts, Device: Message<D>, written: O
) {
  const { kind, message } = packageOf(version)

  const ResourcePool = message('ResourcePool', 'Which pool of a driver devices are in.', {
    name: string(1, 'Name of the pool; does not change.', { ...EMPTY, immutable: 'ruled' }),
    generation: int64(2, 'Rises with each change of the pool; slices of earlier ones are stale.', { required: true }),
    resourceSliceCount: int64(3, 'Number of slices of the pool.', { required: true })
  })

  const ResourceSliceSpec = message('ResourceSliceSpec', 'Devices, and the nodes that can use them.', {
    driver: string(1, 'Name of the driver; does not change.', { ...EMPTY, immutable: 'ruled' }),
    pool: one(2, 'The pool that the devices are in.', ResourcePool, { required: true }),
    nodeName: string(3, 'Node of all devices; does not change.', { ...written, immutable: 'ruled' }),
    nodeSelector: one(4, 'Nodes of all devices.', NodeSelector, { pointer: true }),
    allNodes: bool(5, 'Every node has access to all devices.', written),
    devices: list(6, 'The devices.', Device, ATOMIC),
    perDeviceNodeSelection: bool(7, 'Each device says which nodes have access to it.', {
      pointer: true, gate: PARTITION
    }),
    sharedCounters: list(8, 'Counters of which devices of the pool consume.', CounterSet, {
      ...ATOMIC, gate: PARTITION
    })
  })

  const ResourceSlice = kind('ResourceSlice', 'Devices that a driver offers, or a part of them.', {
    metadata,
    spec: one(2, 'The devices.', ResourceSliceSpec, { required: true, ruled: true })
  })

  return { ResourcePool, ResourceSliceSpec, ResourceSlice }
}
