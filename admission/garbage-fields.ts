/** Whether an update changes nothing but what the collection of garbage does, which grants and runs nothing. */
import { sameValue } from '../schemas/index.js'
import type { AdmissionRequest } from '../registry/admission.js'

/** Finalizers and owners, and what every update changes. False for what is no update. */
export function onlyForCollection ({ object, oldObject }: Pick<AdmissionRequest, 'object' | 'oldObject'>): boolean {
  if (object === undefined || oldObject === undefined) return false
  return sameValue(bare(object), bare(oldObject))
}

function bare ({ metadata, ...rest }: Record<string, unknown>): unknown {
  const { finalizers, ownerReferences, managedFields, resourceVersion, ...kept } = metadata as Record<string, unknown>
  return { ...rest, metadata: kept }
}
