/** That the object of a request is the one on its URL, in the words of the convention. */
import type { ApiObject } from '../../schemas/index.js'
import { badRequest } from '../../schemas/status.js'

type Metadata = ApiObject['metadata']

/** Puts the object where the URL says; types that are not namespaced are nowhere. @throws StatusError 400 for another namespace */
export function takeNamespace (metadata: Metadata, namespaced: boolean, namespace: string): void {
  if (!namespaced) delete metadata.namespace
  else if ((metadata.namespace ?? '') === '') metadata.namespace = namespace
  else if (metadata.namespace !== namespace) throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}

/** @throws StatusError 400 for no name, or another one */
export function requireName ({ name = '' }: Metadata, wanted: string): void {
  if (name === '') throw badRequest(`the name of the object (${wanted} based on URL) was undeterminable: name must be provided`)
  if (name !== wanted) throw badRequest(`the name of the object (${name}) does not match the name on the URL (${wanted})`)
}
