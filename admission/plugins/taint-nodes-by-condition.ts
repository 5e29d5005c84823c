/**
 * TaintNodesByCondition: a node is not ready when it is made, and no pod is placed on it before a controller of the cluster has seen
 * that it is. (Of the default set.)
 */
import { nodes } from '../../schemas/api/core/nodes.js'
import type { Node } from '../../schemas/api/core/nodes.js'
import { pluginFor } from '../../registry/admission.js'
import { NOT_READY } from '../tolerations.js'

export const taintNodesByCondition = pluginFor<Node>(nodes, {
  name: 'TaintNodesByCondition',
  operations: ['CREATE'],
  mutate: ({ object }) => {
    const { spec } = object ?? {}
    if (spec === undefined || spec.taints?.some(({ key, effect }) => key === NOT_READY && effect === 'NoSchedule') === true) return
    spec.taints = [...spec.taints ?? [], { key: NOT_READY, effect: 'NoSchedule' }]
  }
})
