/** PATCH: applies a difference to the current object. */
import type { ApiObject, Message } from '../../schemas/index.js'
import { JSON_PATCH_TYPE, STRATEGIC_MERGE_PATCH_TYPE, type PatchType } from '../../schemas/media-types.js'
import { badRequest } from '../../schemas/status.js'
import { applyJsonPatch, parseJsonPatch } from '../patch/json-patch.js'
import { mergePatch } from '../patch/merge-patch.js'
import { strategicMerge } from '../patch/strategic.js'
import type { ResourceStore } from '../resource-store.js'
import { nextTurn } from '../../event-loop/turns.js'
import { ChangeWrite } from '../stages/writes.js'
import { changeOf, found, runChange } from './change.js'
import type { Target, WriteContext } from '../write-context.js'
import { matchTarget } from '../stages/identity.js'
import type { Written } from './update.js'

export interface PatchRequest {
  readonly type: PatchType
  /** The parsed patch. */
  readonly patch: unknown
  /** Exchanges our names in the object for those that a JSON patch uses, and back. Default none. */
  readonly exchangeNames?: ((object: unknown) => unknown) | undefined
  /** Decodes the patched JSON and checks unknown fields. Throws a StatusError. */
  readonly decode: (patched: unknown) => Promise<ApiObject>
}

type Apply = (copy: ApiObject) => unknown

class PatchWrite extends ChangeWrite {
  readonly apply: Apply
  readonly decode: PatchRequest['decode']
  /** The object in the request's version, at first without the patch. */
  patched: unknown = undefined

  constructor (store: ResourceStore, request: PatchRequest, target: Target, context: WriteContext) {
    super(store, target, context, 'UPDATE')
    this.apply = patched(request, store.representation.message)
    this.decode = request.decode
  }
}

/** Each attempt patches a copy. */
export function copy (write: PatchWrite): void {
  write.patched = write.store.convertCopy(write.base)
}

/** @throws StatusError 413, 422 */
export async function applyPatch (write: PatchWrite): Promise<void> {
  write.patched = await write.apply(write.patched as ApiObject) // as copied
}

/** @throws StatusError 400, 422 */
export async function decodePatched (write: PatchWrite): Promise<void> {
  const { store, target } = write
  write.object = await write.decode(write.patched)
  matchTarget(store, write.object, target)
}

export const PATCH = changeOf<PatchWrite>([
  { name: 'copy', run: copy },
  { name: 'patch', run: applyPatch },
  { name: 'decode', run: decodePatched }
])

/** @throws StatusError 400, 404, 409 Conflict, 422, any admission refusal; StorageError */
export async function patch (store: ResourceStore, request: PatchRequest, target: Target, context: WriteContext): Promise<Written> {
  return { entry: found(await runChange(PATCH, new PatchWrite(store, request, target, context))), created: false }
}

/** Returns a function that applies the patch in place to an object of `message`. @throws StatusError 400 for a malformed patch */
export function patched (request: Omit<PatchRequest, 'decode'>, message: Message): Apply {
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
