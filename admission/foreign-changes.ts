/** Notes what webhooks and host plugins change in a new object, apart from what the server's own plugins add. */
import { isDeepStrictEqual } from 'node:util'
import { clone } from '../schemas/language/values.js'
import type { AdmissionRequest } from '../registry/admission.js'

/**
 * Call it before foreign code changes the object.
 * @returns a function to call afterwards; undefined if nobody wants to know
 */
export function beforeForeign (
  { object, foreignChanges }: Pick<AdmissionRequest, 'object' | 'foreignChanges'>
): (() => void) | undefined {
  if (object === undefined || foreignChanges === undefined) return undefined
  const before = clone(object)
  return () => {
    if (!isDeepStrictEqual(before, object)) foreignChanges.push({ before, after: clone(object) })
  }
}
