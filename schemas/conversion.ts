/** Conversions between representations of a type. */
import { Facts } from './language/types.js'
import type { Message } from './language/types.js'
import type { ApiObject, OtherRepresentation } from './resource.js'

/** A version that has the same fields as the stored one, whatever they mean. */
export function sameFields<T extends ApiObject> (message: Message<ApiObject>, stored: Message<T>): Pick<OtherRepresentation<T>, 'message' | 'toStored' | 'fromStored'> {
  const inVersionOf = ({ [Facts]: { type } }: Message) => {
    const apiVersion = type?.apiVersion ?? ''
    return (object: ApiObject): ApiObject => ({ ...object, apiVersion })
  }
  // What has the same fields is a T, but for its apiVersion.
  return { message, toStored: inVersionOf(stored) as (object: ApiObject) => T, fromStored: inVersionOf(message) }
}
