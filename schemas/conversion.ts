/** Conversions between representations of a type. */
import { Facts, type Message } from './language/types.js'
import type { ApiObject } from './meta/api-object.js'
import type { OtherRepresentation } from './resource.js'

/** A version with the same fields as the stored one. */
export function sameFields<T extends ApiObject> (
  message: Message<ApiObject>, stored: Message<T>
): Pick<OtherRepresentation<T>, 'message' | 'toStored' | 'fromStored'> {
  const inVersionOf = ({ [Facts]: { type } }: Message) => {
    const apiVersion = type?.apiVersion ?? ''
    return (object: ApiObject): ApiObject => ({ ...object, apiVersion })
  }
  // Only apiVersion differs, so the result is a T.
  return { message, toStored: inVersionOf(stored) as (object: ApiObject) => T, fromStored: inVersionOf(message) }
}
