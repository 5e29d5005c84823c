/** CSIStorageCapacity, for both versions of storage.orch.io. */
import { LabelSelector } from '../../meta/options.js'
import { Quantity } from '../../meta/quantity.js'
import { apiPackage, one, string } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { validateStorageCapacity } from './rules/csi.js'

/** The message of one version. */
export function declare (version: 'v1' | 'v1beta1') {
  const { kind } = apiPackage('storage.orch.io', version, `io.orch.api.storage.${version}`)

  const CSIStorageCapacity = kind('CSIStorageCapacity', 'Storage that is left of a class in a part of the cluster.', {
    metadata,
    nodeTopology: one(2, 'Labels of the nodes that can reach the storage.', LabelSelector, {
      pointer: true, immutable: true
    }),
    storageClassName: string(3, 'Storage class of the capacity; does not change.', {
      required: true, mayBeEmpty: true, immutable: true
    }),
    capacity: one(4, 'Storage that is left, in bytes.', Quantity, { pointer: true }),
    maximumVolumeSize: one(5, 'Size of the largest volume that can be made, in bytes.', Quantity, { pointer: true })
  }, { validate: (object, _at, report) => { validateStorageCapacity(object, report) } })

  return { CSIStorageCapacity }
}
