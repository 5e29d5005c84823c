/** PATCH: a change stated as a difference, applied to whatever is there when it is written. */
import type { ApiObject } from '../../schemas/index.js'
import type { PatchType } from '../../schemas/media-types.js'
import { badRequest } from '../../schemas/status.js'
import { applyJsonPatch, parseJsonPatch } from '../patch/json-patch.js'
import { mergePatch } from '../patch/merge-patch.js'
import type { ResourceStore } from '../resource-store.js'
import type { Target, WriteContext } from './context.js'
import { change } from './update.js'
import type { Written } from './update.js'

export interface PatchRequest {
  readonly type: PatchType
  /** The parsed patch. */
  readonly patch: unknown
  /** Makes an object of the patched JSON: decodes it and judges unknown fields. Throws a StatusError. */
  readonly decode: (patched: unknown) => ApiObject
}

/** @throws StatusError 400, 404, 409 Conflict, 422, whatever admission refuses with; StorageError */
export async function patch (store: ResourceStore, request: PatchRequest, target: Target, context: WriteContext): Promise<Written> {
  const apply = applier(store, request, target)
  const entry = await change(store, target, context, async current => {
    const object = request.decode(await apply(current.copy()))
    if (object.metadata.name !== target.name) throw badRequest(`the patch changes metadata.name to ${JSON.stringify(object.metadata.name ?? '')}; an object's name cannot change`)
    if (store.definition.namespaced && object.metadata.namespace !== target.namespace) throw badRequest(`the patch changes metadata.namespace to ${JSON.stringify(object.metadata.namespace ?? '')}; an object's namespace cannot change`)
    return object
  })
  return { entry, created: false }
}

function applier (store: ResourceStore, { type, patch }: PatchRequest, { name }: Target): (copy: ApiObject) => unknown | Promise<unknown> {
  if (type === 'application/json-patch+json') {
    const operations = parseJsonPatch(patch)
    return copy => applyJsonPatch(copy, operations, store.definition, name)
  }
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) throw badRequest('a merge patch must be an object')
  // A patch applied twice must start from itself, not from what the first attempt made of it.
  return copy => mergePatch(copy, structuredClone(patch))
}
