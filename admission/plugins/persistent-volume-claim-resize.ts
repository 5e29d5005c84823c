/**
 * PersistentVolumeClaimResize: a claim may grow only if it is bound and its storage class allows expansion. (Enabled by
 * default.)
 */
import { persistentVolumeClaims, type PersistentVolumeClaim } from '../../schemas/api/core/persistentvolumeclaims.js'
import { compareQuantities } from '../../schemas/meta/quantity.js'
import type { StorageClass } from '../../schemas/api/storage/storageclasses.js'
import { pluginFor, type AdmissionReader } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { classOf } from '../storage-classes.js'

export const persistentVolumeClaimResize = pluginFor<PersistentVolumeClaim>(persistentVolumeClaims, {
  name: 'PersistentVolumeClaimResize',
  operations: ['UPDATE'],
  validate: async request => {
    const { object, oldObject: old, reader } = request
    if (object === undefined || old === undefined) return
    const size = ({ spec }: PersistentVolumeClaim): string => spec.resources.requests?.['storage'] ?? '0'
    if (compareQuantities(size(object), size(old)) <= 0) return
    if (old.status.phase !== 'Bound') throw refusal(request, 'Only bound persistent volume claims can be expanded')
    if (!await mayGrow(object, old, reader)) {
      throw refusal(
        request,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support ' +
          'resize'
      )
    }
  }
})

async function mayGrow (
  claim: PersistentVolumeClaim, old: PersistentVolumeClaim, reader: AdmissionReader
): Promise<boolean> {
  const name = classOf(claim)
  if (name === '' || name !== classOf(old)) return false
  // the resource's type
  const storageClass = await reader.get('storage.orch.io', 'storageclasses', '', name) as StorageClass | undefined
  return storageClass?.allowVolumeExpansion === true
}
