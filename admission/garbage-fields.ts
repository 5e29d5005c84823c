import { sameValue } from '../schemas/language/values.js'
import type { AdmissionRequest } from '../registry/admission.js'

/**
 * Whether an update changes only finalizers, owner references and what every update changes, as garbage collection
 * does. False for other operations.
 */
export function onlyForCollection ({ object, oldObject }: Pick<AdmissionRequest, 'object' | 'oldObject'>): boolean {
  if (object === undefined || oldObject === undefined) return false
  return sameValue(withoutCollectionFields(object), withoutCollectionFields(oldObject))
}

function withoutCollectionFields ({ metadata, ...rest }: Record<string, unknown>): unknown {
  const { finalizers, ownerReferences, managedFields, resourceVersion, ...kept } = metadata as Record<string, unknown>
  return { ...rest, metadata: kept }
}
