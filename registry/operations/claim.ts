/** What webhooks and plugins of a host change in a new object, apart from what the server's own plugins fill in before, between and after them. */
import { isDeepStrictEqual } from 'node:util'
import { applyDefaults, clone } from '../../schemas/index.js'
import type { ApiObject } from '../../schemas/index.js'
import type { AdmissionRequest } from '../admission.js'
import type { ResourceStore } from '../resource-store.js'

/** @param changed told of each change, as the object was before and after it, with its defaults */
export function claiming ({ stored: { message } }: ResourceStore, object: ApiObject, changed: (before: ApiObject, after: ApiObject) => void): NonNullable<AdmissionRequest['claim']> {
  const complete = (copy: ApiObject): ApiObject => {
    applyDefaults(message, copy)
    return copy
  }
  return () => {
    const before = clone(object)
    return () => {
      // Defaults of what they set are theirs, as those of what is sent are; those of what was there before are not.
      if (!isDeepStrictEqual(before, object)) changed(complete(before), complete(clone(object)))
    }
  }
}
