/** Which storage class a claim names. */
import type { PersistentVolumeClaim } from '../schemas/api/core/persistentvolumeclaims.js'

/** Counts before the field. */
export const CLASS_ANNOTATION = 'volume.beta.orch.io/storage-class'

/** '' for none. */
export const classOf = ({ metadata, spec }: PersistentVolumeClaim): string => metadata.annotations?.[CLASS_ANNOTATION] ?? spec.storageClassName ?? ''
