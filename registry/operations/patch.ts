/** PATCH: applies a difference to the current object. */
import type { ApiObject, Message } from '../../schemas/index.js'
import { JSON_PATCH_TYPE, STRATEGIC_MERGE_PATCH_TYPE, type PatchType } from '../../schemas/media-types.js'
import { badRequest } from '../../schemas/status.js'
import { applyJsonPatch, parseJsonPatch } from '../patch/json-patch.js'
import { mergePatch } from '../patch/merge-patch.js'
import { strategicMerge } from '../patch/strategic.js'
import type { ResourceStore } from '../resource-store.js'
import { nextTurn, yieldToEventLoop } from '../../event-loop/turns.js'
import type { Target, WriteContext } from './context.js'
import { matchTarget } from './identity.js'
import { change, type Written } from './update.js'

export interface PatchRequest {
  readonly type: PatchType
  /** The parsed patch. */
  readonly patch: unknown
  /** Exchanges our names in the object for those that a JSON patch uses, and back. Default none. */
  readonly exchangeNames?: ((object: unknown) => unknown) | undefined
  /** Decodes the patched JSON and checks unknown fields. Throws a StatusError. */
  readonly decode: (patched: unknown) => Promise<ApiObject>
}

/** @throws StatusError 400, 404, 409 Conflict, 422, any admission refusal; StorageError */
export async function patch (store: ResourceStore, request: PatchRequest, target: Target, context: WriteContext): Promise<Written> {
  const apply = patched(request, store.representation.message)
  const entry = await change(store, target, context, async current => {
    const { length } = current.json
    const copy = store.convertCopy(current)
    await yieldToEventLoop(length)
    const made = await apply(copy)
    await yieldToEventLoop(Math.max(length, context.size ?? 0))
    const object = await request.decode(made)
    matchTarget(store, object, target)
    return object
  })
  return { entry, created: false }
}

/** Returns a function that applies the patch in place to an object of `message`. @throws StatusError 400 for a malformed patch */
export function patched (request: Omit<PatchRequest, 'decode'>, message: Message): (copy: ApiObject) => unknown {
  const { type, patch, exchangeNames } = request
  if (type === JSON_PATCH_TYPE) {
    const operations = parseJsonPatch(patch)
    if (exchangeNames === undefined) return copy => applyJsonPatch(copy, operations)
    return async copy => {
      const seen = exchangeNames(copy)
      await nextTurn()
      const made = await applyJsonPatch(seen, operations)
      await nextTurn()
      return exchangeNames(made)
    }
  }
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) throw badRequest('a merge patch must be an object')
  if (type === STRATEGIC_MERGE_PATCH_TYPE) return copy => strategicMerge(message, { ...copy }, { ...patch })
  return copy => mergePatch(copy, patch)
}
