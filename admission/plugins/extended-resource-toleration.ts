/**
 * ExtendedResourceToleration: pods that request an extended resource tolerate the taint with its name, which reserves
 * nodes for such pods. (Off by default.)
 */
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import { isExtendedResource } from '../../schemas/rules/quantities.js'
import { pluginFor } from '../../registry/admission.js'

export const extendedResourceToleration = pluginFor<Pod>(pods, {
  name: 'ExtendedResourceToleration',
  operations: ['CREATE', 'UPDATE'],
  mutate: ({ object }) => {
    if (object === undefined) return
    const { spec } = object
    const requested = [...spec.containers ?? [], ...spec.initContainers ?? []]
      .flatMap(({ resources }) => Object.keys(resources.requests ?? {}))
      .filter(isExtendedResource)
    const tolerated = new Set(spec.tolerations
      ?.filter(({ operator, effect, value }) => operator === 'Exists' && effect === 'NoSchedule' && !value)
      .map(({ key }) => key))
    const added = [...new Set(requested)].sort().filter(key => !tolerated.has(key)).map(key =>
      ({ key, operator: 'Exists', effect: 'NoSchedule' }))
    if (added.length > 0) spec.tolerations = [...spec.tolerations ?? [], ...added]
  }
})
