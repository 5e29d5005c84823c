/** Node (v1). */
import { one, bool, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { nodeColumns } from './node-columns.js'
import { NodeConfigSource, NodeStatus } from './node-status.js'
import { Time } from '../../meta/scalars.js'
import { resource } from '../../resource.js'
import { alignPodRanges, validateNode, validateNodeUpdate } from './rules/nodes.js'
import { kind, message } from './package.js'
import { nodeWarnings } from './rules/object-warnings.js'

export type Taint = Static<typeof Taint>
export const Taint = message('Taint', 'A mark on a node that keeps pods off it.', {
  key: string(1, 'Key of the taint.', { required: true, mayBeEmpty: true }),
  value: string(2, 'Value that goes with the key.'),
  effect: string(3, 'What befalls pods without toleration: NoSchedule, PreferNoSchedule or NoExecute.', {
    required: true, mayBeEmpty: true, values: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'], closed: 'ruled'
  }),
  timeAdded: one(4, 'When the taint was added; only for NoExecute.', Time, { pointer: true })
})

export type NodeSpec = Static<typeof NodeSpec>
export const NodeSpec = message('NodeSpec', 'How a node is to be used.', {
  podCIDR: string(1, 'Address range for the pods of the node.', { immutable: 'ruled' }),
  podCIDRs: list(7, 'Address ranges for the pods, at most one per IP family.', 'string', {
    immutable: 'ruled', patchStrategy: 'merge', holds: 'cidr'
  }),
  providerID: string(3, 'ID of the node at the cloud provider, as provider://id.', { immutable: 'ruled' }),
  unschedulable: bool(4, 'Whether new pods are kept off the node (cordoned).'),
  taints: list(5, 'Taints that keep pods off the node.', Taint),
  configSource: one(6, 'Deprecated: where the node agent gets its configuration from.', NodeConfigSource, {
    pointer: true, gate: 'DynamicKubeletConfig'
  }),
  externalID: string(2, 'Deprecated: no longer used.', { immutable: 'ruled' })
}, { defaults: spec => { alignPodRanges(spec) } })

export type Node = Static<typeof Node>
export const Node = kind('Node', 'A machine that runs pods.', {
  metadata,
  spec: one(2, 'How the node is to be used.', NodeSpec),
  status: one(3, 'What is observed of the node; written by the system.', NodeStatus)
}, {
  validate: (node, _at, report) => { validateNode(node, report) },
  validateUpdate: (node, old, _at, report) => { validateNodeUpdate(node, old, report) }
})

export const nodes = resource(Node, {
  plural: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  subresources: [
    { name: 'proxy', verbs: ['create', 'delete', 'get', 'patch', 'update'], kind: 'NodeProxyOptions', connects: true },
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], validateUpdate: (node, old, report) => {
        validateNodeUpdate(node as Node, old as Node, report)
      }
    }
  ],
  storagePrefix: 'minions',
  columns: nodeColumns,
  strategy: { statusOfNew: true, warnings: nodeWarnings }, // node agents register with their status
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec.unschedulable ?? false) }
})
