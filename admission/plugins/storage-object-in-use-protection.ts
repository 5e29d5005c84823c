/**
 * StorageObjectInUseProtection: adds finalizers to claims and volumes, with which a controller keeps those in use.
 * (Enabled by default.)
 */
import { typed, type AdmissionPlugin } from '../../registry/admission.js'

const FINALIZERS: Readonly<Record<string, string>> = {
  persistentvolumes: 'orch.io/pv-protection', persistentvolumeclaims: 'orch.io/pvc-protection'
}

export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: [{ operations: ['CREATE'], groups: [''], resources: Object.keys(FINALIZERS) }],
  mutate: request => {
    const finalizer = FINALIZERS[request.resource]
    const { metadata } = typed(request).object ?? {}
    if (metadata === undefined || finalizer === undefined || metadata.finalizers?.includes(finalizer) === true) return
    metadata.finalizers = [...metadata.finalizers ?? [], finalizer]
  }
}
