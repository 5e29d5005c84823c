import { forbidden, type StatusError } from '../schemas/status.js'
import type { TypedRequest } from '../registry/admission.js'
import type { ApiObject } from '../schemas/meta/api-object.js'

type Named = Pick<TypedRequest<ApiObject>, 'group' | 'resource' | 'name'> & { readonly object: unknown }

/** A 403 to throw: `pods "web" is forbidden: WHY`, with the generateName if the name is not generated yet. */
export function refusal (request: Named, why: string): StatusError {
  return forbidden({ group: request.group, resource: request.resource }, displayName(request), why)
}

/** For display only: decisions use the name of the request. */
function displayName ({ name, object }: Pick<Named, 'name' | 'object'>): string {
  const { metadata } = (object ?? {}) as Partial<ApiObject>
  return name || metadata?.name || metadata?.generateName || 'Unknown'
}
