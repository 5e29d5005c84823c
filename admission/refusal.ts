/** How a plugin says no: 403, naming the object as far as its name is known. */
import { forbidden } from '../schemas/status.js'
import type { StatusError } from '../schemas/status.js'
import type { TypedRequest } from '../registry/admission.js'
import type { ApiObject } from '../schemas/index.js'

type Named = Pick<TypedRequest<ApiObject>, 'group' | 'resource' | 'name'> & { readonly object: unknown }

/** `pods "web" is forbidden: WHY`; by its generateName while it has no other. To be thrown. */
export function refusal (request: Named, why: string): StatusError {
  return forbidden({ group: request.group, resource: request.resource }, displayName(request), why)
}

/** For people alone: what is decided goes by the name of the request. */
function displayName ({ name, object }: Pick<Named, 'name' | 'object'>): string {
  const { metadata } = (object ?? {}) as Partial<ApiObject>
  return name || metadata?.name || metadata?.generateName || 'Unknown'
}
