/** CSINode (v1): the storage drivers of a node. */
import { age, integer, name, type Column } from '../../columns.js'
import { int32, one, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { resource } from '../../resource.js'
import { validateNodeDrivers, validateNodeDriversUpdate } from './rules/csi.js'
import { kind, message } from './package.js'

export type VolumeNodeResources = Static<typeof VolumeNodeResources>
export const VolumeNodeResources = message('VolumeNodeResources', 'How many volumes a node can take.', {
  count: int32(1, 'Number of volumes of the driver the node can take.', { pointer: true })
})

export type CSINodeDriver = Static<typeof CSINodeDriver>
export const CSINodeDriver = message('CSINodeDriver', 'A CSI driver on a node.', {
  name: string(1, 'Name of the driver.', { required: true }),
  nodeID: string(2, 'ID of the node from the point of view of the driver.', { required: true, mayBeEmpty: true }),
  topologyKeys: list(3, 'Node labels that tell which volumes the node can reach.', 'string', { written: true }),
  allocatable: one(4, 'How many volumes of the driver the node can take.', VolumeNodeResources, { pointer: true })
})

export type CSINodeSpec = Static<typeof CSINodeSpec>
export const CSINodeSpec = message('CSINodeSpec', 'CSI drivers that are installed on a node.', {
  drivers: list(1, 'The drivers on the node.', CSINodeDriver, {
    required: true, immutable: 'ruled', patchStrategy: 'merge', patchMergeKey: 'name'
  })
}, {
  validate: (spec, at, report) => { validateNodeDrivers(spec, at, report) },
  validateUpdate: (spec, old, _at, report) => { validateNodeDriversUpdate(spec, old, report) }
})

export type CSINode = Static<typeof CSINode>
export const CSINode = kind('CSINode', 'CSI drivers that are installed on a node.', {
  metadata,
  spec: one(2, 'The drivers on the node.', CSINodeSpec, { required: true })
})

const columns: ReadonlyArray<Column<CSINode>> = [
  name, integer('Drivers', 'Number of drivers on the node.', ({ spec }) => spec.drivers?.length), age
]

export const csiNodes = resource(CSINode, {
  plural: 'csinodes',
  namespaced: false,
  unconditionalUpdate: false,
  deleteReturns: 'Object',
  columns
})
