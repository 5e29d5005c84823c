/** Tracks what webhooks and host plugins change in a new object, apart from what the server's own plugins add. */
import { isDeepStrictEqual } from 'node:util'
import { applyDefaults } from '../../schemas/language/defaults.js'
import { clone } from '../../schemas/language/values.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { AdmissionRequest } from '../admission.js'
import type { ResourceStore } from '../resource-store.js'

/** @param changed receives the object before and after each change, as it would be stored */
export function trackOwnership (
  store: ResourceStore, object: ApiObject, changed: (before: ApiObject, after: ApiObject) => void
): NonNullable<AdmissionRequest['trackOwnership']> {
  const complete = (copy: ApiObject): ApiObject => {
    applyDefaults(store.written.message, copy, store.gates)
    return store.storable(copy)
  }
  return () => {
    const before = clone(object)
    return () => {
      // Defaults that follow from their changes belong to the creator as well; earlier defaults do not.
      if (!isDeepStrictEqual(before, object)) changed(complete(before), complete(clone(object)))
    }
  }
}
