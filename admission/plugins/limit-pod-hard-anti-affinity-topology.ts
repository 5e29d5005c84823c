/**
 * LimitPodHardAntiAffinityTopology: limits required anti-affinity to the topology of single nodes. (Off by default.)
 */
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import { pluginFor } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

const HOST = 'orch.io/hostname'

export const limitPodHardAntiAffinityTopology = pluginFor<Pod>(pods, {
  name: 'LimitPodHardAntiAffinityTopology',
  operations: ['CREATE', 'UPDATE'],
  validate: request => {
    const terms = request.object?.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const wide = terms.find(({ topologyKey }) => topologyKey !== HOST)
    if (wide !== undefined) {
      throw refusal(
        request,
        `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wide.topologyKey} but only key ${HOST} ` +
          'is allowed'
      )
    }
  }
})
