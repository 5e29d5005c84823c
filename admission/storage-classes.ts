import type { PersistentVolumeClaim } from '../schemas/api/core/persistentvolumeclaims.js'

/** Takes precedence over the field. */
export const CLASS_ANNOTATION = 'volume.beta.orch.io/storage-class'

/** The storage class of a claim, '' for none. */
export const classOf = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[CLASS_ANNOTATION] ?? spec.storageClassName ?? ''
