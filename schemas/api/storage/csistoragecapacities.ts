/** CSIStorageCapacity: available capacity of a storage class, by topology. */
import { sameFields } from '../../conversion.js'
import { resource } from '../../resource.js'
import { warnedLater } from '../../rules/warned.js'
import { warnOfLabels } from '../core/rules/object-warnings.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'

const capacityWarnings = warnedLater<v1beta1.CSIStorageCapacity>(({ nodeTopology = {} }, old, warn) => {
  if (old !== undefined) return
  const { matchExpressions = [], matchLabels = {} } = nodeTopology
  warnOfLabels([
    ...matchExpressions.map(({ key }, index) => [key, `nodeTopology.matchExpressions[${index}].key`] as const),
    ...Object.keys(matchLabels).map(key => [key, `nodeTopology.matchLabels[${key}]`] as const)
  ], warn)
})

export const csiStorageCapacities = resource(v1beta1.CSIStorageCapacity, {
  plural: 'csistoragecapacities',
  namespaced: true,
  unconditionalUpdate: false,
  strategy: { warnings: capacityWarnings },
  deprecation: { deprecated: '1.24', removed: '1.27', replacement: 'storage.orch.io/v1 CSIStorageCapacity' },
  others: [sameFields(v1.CSIStorageCapacity, v1beta1.CSIStorageCapacity)]
})
