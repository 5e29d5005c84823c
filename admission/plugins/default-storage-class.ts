/**
 * DefaultStorageClass: sets the default class of claims without one, by field or by legacy annotation. Several default
 * classes are refused by releases before 1.26. (Enabled by default.)
 */
import { persistentVolumeClaims, type PersistentVolumeClaim } from '../../schemas/api/core/persistentvolumeclaims.js'
import { pluginFor, type AdmissionPlugin } from '../../registry/admission.js'
import type { Gates } from '../../schemas/gates.js'
import { defaultClass } from '../default-class.js'
import { CLASS_ANNOTATION } from '../storage-classes.js'

const DEFAULTS = ['storageclass.orch.io/is-default-class', 'storageclass.beta.orch.io/is-default-class']

export const defaultStorageClass = (
  { gates }: { readonly gates: Gates }
): AdmissionPlugin => pluginFor<PersistentVolumeClaim>(persistentVolumeClaims, {
  name: 'DefaultStorageClass',
  operations: ['CREATE'],
  mutate: async request => {
    const { object, reader } = request
    if (object === undefined || object.spec.storageClassName !== undefined ||
      object.metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return
    const classes = await reader.list('storage.orch.io', 'storageclasses', '')
    const marked = classes.filter(({ metadata }) => DEFAULTS.some(name => metadata.annotations?.[name] === 'true'))
    const name = defaultClass(request, {
      marked, mayBeSeveral: gates.enabled('ClaimGetsNewestClass'),
      problem: `${marked.length} default StorageClasses were found`
    })
    if (name !== undefined) object.spec.storageClassName = name
  }
})
