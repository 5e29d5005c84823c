/**
 * ExtendedResourceToleration: a pod that asks for a resource which somebody has defined tolerates the taint of the same key, by which
 * its nodes are kept for such pods. (Off by default.)
 */
import { pods } from '../../../schemas/api/core/pods.js'
import type { Pod } from '../../../schemas/api/core/pods.js'
import { isExtended } from '../../../schemas/api/core/rules/resource-names.js'
import { pluginFor } from '../contract.js'

export const extendedResourceToleration = pluginFor<Pod>(pods, {
  name: 'ExtendedResourceToleration',
  operations: ['CREATE', 'UPDATE'],
  mutate: ({ object }) => {
    if (object === undefined) return
    const { spec } = object
    const asked = [...spec.containers ?? [], ...spec.initContainers ?? []].flatMap(({ resources }) => Object.keys(resources.requests ?? {})).filter(isExtended)
    for (const key of [...new Set(asked)].sort()) {
      const isThere = spec.tolerations?.some(one => one.key === key && one.operator === 'Exists' && one.effect === 'NoSchedule' && !one.value) === true
      if (!isThere) spec.tolerations = [...spec.tolerations ?? [], { key, operator: 'Exists', effect: 'NoSchedule' }]
    }
  }
})
