/** The status of a node. */
import { bool, int32, int64, map, one, list, string, type Static } from '../../language/declare.js'
import { Quantity, roundToMilli } from '../../meta/quantity.js'
import { Time } from '../../meta/scalars.js'
import { validateNodeStatus } from './rules/nodes.js'
import { message } from './package.js'

export type AttachedVolume = Static<typeof AttachedVolume>
export const AttachedVolume = message('AttachedVolume', 'A volume attached to a node.', {
  name: string(1, 'Name of the attached volume.', { required: true, mayBeEmpty: true }),
  devicePath: string(2, 'Path of the device under which the volume is available.', { required: true, mayBeEmpty: true })
})

export type ContainerImage = Static<typeof ContainerImage>
export const ContainerImage = message('ContainerImage', 'An image present on a node.', {
  names: list(1, 'Names the image is known by.', 'string', { written: true }),
  sizeBytes: int64(2, 'Size of the image in bytes.')
})

export type DaemonEndpoint = Static<typeof DaemonEndpoint>
export const DaemonEndpoint = message('DaemonEndpoint', 'A port of a daemon on a node.', {
  Port: int32(1, 'Port number the daemon listens on.', { required: true })
})

export type NodeDaemonEndpoints = Static<typeof NodeDaemonEndpoints>
export const NodeDaemonEndpoints = message('NodeDaemonEndpoints', 'Ports of the daemons on a node.', {
  kubeletEndpoint: one(1, 'Where the node agent listens.', DaemonEndpoint)
})

export type NodeAddress = Static<typeof NodeAddress>
export const NodeAddress = message('NodeAddress', 'An address of a node.', {
  type: string(1, 'Type of address: Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.', {
    required: true, mayBeEmpty: true, values: ['Hostname', 'InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS']
  }),
  address: string(2, 'The address itself.', { required: true, mayBeEmpty: true })
})

export type NodeCondition = Static<typeof NodeCondition>
export const NodeCondition = message('NodeCondition', 'A finding about a node.', {
  type: string(1, 'Type of the condition: Ready, MemoryPressure, DiskPressure, PIDPressure or NetworkUnavailable.', {
    required: true, mayBeEmpty: true,
    values: ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']
  }),
  status: string(2, 'Whether it holds: True, False or Unknown.', {
    required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
  }),
  lastHeartbeatTime: one(3, 'When it was last reported.', Time),
  lastTransitionTime: one(4, 'When status last changed.', Time),
  reason: string(5, 'One word for a machine.'),
  message: string(6, 'A sentence for a person.')
})

export type ConfigMapNodeConfigSource = Static<typeof ConfigMapNodeConfigSource>
export const ConfigMapNodeConfigSource =
  message('ConfigMapNodeConfigSource', 'Deprecated: a config map with the configuration of a node agent.', {
    namespace: string(1, 'Namespace of the config map.', { required: true, mayBeEmpty: true }),
    name: string(2, 'Name of the config map.', { required: true, mayBeEmpty: true }),
    uid: string(3, 'UID of the config map; set only in the status of a node.'),
    resourceVersion: string(4, 'Version of the config map; set only in the status of a node.'),
    kubeletConfigKey: string(5, 'Key of the config map that holds the node agent configuration.', {
      required: true, mayBeEmpty: true
    })
  })

export type NodeConfigSource = Static<typeof NodeConfigSource>
export const NodeConfigSource =
  message('NodeConfigSource', 'Deprecated: where a node agent gets its configuration from.', {
    configMap: one(2, 'Config map that holds the configuration.', ConfigMapNodeConfigSource, { pointer: true })
  })

export type NodeConfigStatus = Static<typeof NodeConfigStatus>
export const NodeConfigStatus = message('NodeConfigStatus', 'Deprecated: which configuration a node agent runs with.', {
  assigned: one(1, 'Configuration the node agent is to try.', NodeConfigSource, { pointer: true }),
  active: one(2, 'Configuration the node agent runs with.', NodeConfigSource, { pointer: true }),
  lastKnownGood: one(3, 'Configuration the node agent falls back to.', NodeConfigSource, { pointer: true }),
  error: string(4, 'What went wrong with the assigned configuration.')
})

export type NodeSwapStatus = Static<typeof NodeSwapStatus>
export const NodeSwapStatus = message('NodeSwapStatus', 'Swap of a node.', {
  capacity: int64(1, 'Its size in bytes.', { pointer: true })
})

export type NodeRuntimeHandlerFeatures = Static<typeof NodeRuntimeHandlerFeatures>
export const NodeRuntimeHandlerFeatures = message('NodeRuntimeHandlerFeatures', 'What a runtime handler can do.', {
  recursiveReadOnlyMounts: bool(1, 'Whether it mounts recursively read-only.', { pointer: true }),
  userNamespaces: bool(2, 'Whether pods may have users of their own.', { pointer: true })
})

export type NodeRuntimeHandler = Static<typeof NodeRuntimeHandler>
export const NodeRuntimeHandler = message('NodeRuntimeHandler', 'A handler of the container runtime.', {
  name: string(1, 'Name of the handler; empty for the default one.', { written: true }),
  features: one(2, 'What it can do.', NodeRuntimeHandlerFeatures, { pointer: true })
})

export type NodeFeatures = Static<typeof NodeFeatures>
export const NodeFeatures = message('NodeFeatures', 'What the container runtime of a node can do.', {
  supplementalGroupsPolicy: bool(1, 'Whether it knows policies for supplemental groups.', { pointer: true })
})

export type NodeSystemInfo = Static<typeof NodeSystemInfo>
export const NodeSystemInfo = message('NodeSystemInfo', 'Versions and identifiers of a machine and its software.', {
  machineID: string(1, 'Machine ID, as in /etc/machine-id.', { required: true, mayBeEmpty: true }),
  systemUUID: string(2, 'UUID of the hardware, as the firmware reports it.', { required: true, mayBeEmpty: true }),
  bootID: string(3, 'Boot ID, new at each boot.', { required: true, mayBeEmpty: true }),
  kernelVersion: string(4, 'Version of the kernel.', { required: true, mayBeEmpty: true }),
  osImage: string(5, 'Name and release of the operating system.', { required: true, mayBeEmpty: true }),
  containerRuntimeVersion: string(6, 'Name and version of the container runtime, as runtime://version.', {
    required: true, mayBeEmpty: true
  }),
  kubeletVersion: string(7, 'Version of the node agent.', { required: true, mayBeEmpty: true }),
  kubeProxyVersion: string(8, 'Version of the service proxy.', { required: true, mayBeEmpty: true }),
  operatingSystem: string(9, 'Operating system, such as linux or windows.', { required: true, mayBeEmpty: true }),
  architecture: string(10, 'Processor architecture, such as amd64 or arm64.', { required: true, mayBeEmpty: true }),
  swap: one(11, 'Swap of the node.', NodeSwapStatus, { pointer: true, since: '1.33' })
})

interface Amounts { capacity?: Record<string, string> | undefined, allocatable?: Record<string, string> | undefined }

/** Allocatable defaults to capacity. */
function nodeAmounts (status: Amounts): void {
  roundToMilli(status.capacity)
  roundToMilli(status.allocatable)
  if (status.allocatable === undefined && status.capacity !== undefined) status.allocatable = { ...status.capacity }
}

export type NodeStatus = Static<typeof NodeStatus>
export const NodeStatus = message('NodeStatus', 'What is observed of a node.', {
  capacity: map(1, 'All resources of the node, by resource name.', Quantity),
  allocatable: map(2, 'Resources available to pods, by resource name.', Quantity),
  phase: string(3, 'Deprecated: no longer set.', { values: ['Pending', 'Running', 'Terminated'], closed: 'ruled' }),
  conditions: list(4, 'What was found about the node, such as Ready.', NodeCondition, {
    patchStrategy: 'merge', patchMergeKey: 'type'
  }),
  addresses: list(5, 'Addresses the node can be reached at.', NodeAddress, {
    patchStrategy: 'merge', patchMergeKey: 'type'
  }),
  daemonEndpoints: one(6, 'Ports of the daemons on the node.', NodeDaemonEndpoints),
  nodeInfo: one(7, 'Versions and identifiers of the machine and its software.', NodeSystemInfo),
  images: list(8, 'Images present on the node.', ContainerImage),
  volumesInUse: list(9, 'Attachable volumes mounted on the node.', 'string'),
  volumesAttached: list(10, 'Volumes attached to the node.', AttachedVolume),
  config: one(11, 'Deprecated: which configuration the node agent runs with.', NodeConfigStatus, {
    pointer: true, gate: 'DynamicKubeletConfig'
  }),
  runtimeHandlers: list(12, 'Handlers of the container runtime.', NodeRuntimeHandler, {
    listType: 'atomic', gate: 'RecursiveReadOnlyMounts', since: '1.30'
  }),
  features: one(13, 'What the container runtime can do.', NodeFeatures, {
    pointer: true, gate: 'SupplementalGroupsPolicy', since: '1.31'
  }),
  declaredFeatures: list(14, 'Names of what the node agent can do, for schedulers.', 'string', {
    listType: 'atomic', gate: 'NodeDeclaredFeatures', since: '1.35'
  })
}, {
  defaults: status => { nodeAmounts(status) },
  validate: (status, at, report) => { validateNodeStatus(status, at, report) }
})
