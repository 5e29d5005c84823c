/** CSIStorageCapacity: available capacity of a storage class, by topology. */
import { sameFields } from '../../conversion.js'
import { resource } from '../../resource.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'

export const csiStorageCapacities = resource(v1beta1.CSIStorageCapacity, {
  plural: 'csistoragecapacities',
  namespaced: true,
  unconditionalUpdate: false,
  deprecation: { deprecated: '1.24', removed: '1.27', replacement: 'storage.orch.io/v1 CSIStorageCapacity' },
  others: [sameFields(v1.CSIStorageCapacity, v1beta1.CSIStorageCapacity)]
})
