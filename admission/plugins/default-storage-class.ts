/**
 * DefaultStorageClass: sets the default class of claims without one, by field or by legacy annotation. Refused if there
 * are several default classes. (Enabled by default.)
 */
import { persistentVolumeClaims, type PersistentVolumeClaim } from '../../schemas/api/core/persistentvolumeclaims.js'
import { pluginFor } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { CLASS_ANNOTATION } from '../storage-classes.js'

const DEFAULTS = ['storageclass.orch.io/is-default-class', 'storageclass.beta.orch.io/is-default-class']

export const defaultStorageClass = pluginFor<PersistentVolumeClaim>(persistentVolumeClaims, {
  name: 'DefaultStorageClass',
  operations: ['CREATE'],
  mutate: async request => {
    const { object, reader } = request
    if (object === undefined || object.spec.storageClassName !== undefined ||
      object.metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return
    const classes = (await reader.list('storage.orch.io', 'storageclasses', ''))
      .filter(({ metadata }) => DEFAULTS.some(name => metadata.annotations?.[name] === 'true'))
    if (classes.length > 1) {
      throw refusal(request, `Internal error occurred: ${classes.length} default StorageClasses were found`)
    }
    const name = classes[0]?.metadata.name
    if (name !== undefined) object.spec.storageClassName = name
  }
})
