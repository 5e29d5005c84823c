/**
 * TaintNodesByCondition: adds the not-ready taint to new nodes, so that no pod is scheduled before a controller has
 * checked the node. (Enabled by default.)
 */
import { nodes, type Node } from '../../schemas/api/core/nodes.js'
import { pluginFor } from '../../registry/admission.js'
import { NOT_READY } from '../tolerations.js'

export const taintNodesByCondition = pluginFor<Node>(nodes, {
  name: 'TaintNodesByCondition',
  operations: ['CREATE'],
  mutate: ({ object }) => {
    const { spec } = object ?? {}
    if (spec === undefined ||
      spec.taints?.some(({ key, effect }) => key === NOT_READY && effect === 'NoSchedule') === true) return
    spec.taints = [...spec.taints ?? [], { key: NOT_READY, effect: 'NoSchedule' }]
  }
})
