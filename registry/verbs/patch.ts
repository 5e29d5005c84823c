/** PATCH: applies a difference to the current object. */
import type { Message } from '../../schemas/language/declare.js'
import type { ApiObject } from '../../schemas/resource.js'
import { JSON_PATCH_TYPE, STRATEGIC_MERGE_PATCH_TYPE, type PatchType } from '../../schemas/media-types.js'
import { badRequest } from '../../schemas/status.js'
import type { Steps } from '../../schemas/steps.js'
import { applyJsonPatch, parseJsonPatch } from '../patch/json-patch.js'
import { mergePatch } from '../patch/merge-patch.js'
import { strategicMerge } from '../patch/strategic.js'
import type { ResourceStore } from '../resource-store.js'
import { convert } from '../stages/convert.js'
import { ChangeWrite } from '../stages/writes.js'
import { matchTarget } from '../stages/identity.js'
import type { ObjectWrite, Target, WriteContext } from '../write-context.js'
import { changeOf, runChange, type Written } from './change.js'

export interface PatchRequest {
  readonly type: PatchType
  /** The parsed patch. */
  readonly patch: unknown
  /** Shows the object under the names that the patch uses, if those depend on it. In place. */
  readonly shown?: ((object: object) => object) | undefined
  /** Of what is patched. */
  readonly message: Message
  /** Decodes the patched JSON and checks unknown fields. Throws a StatusError. */
  readonly decode: (patched: unknown) => ApiObject
}

/** Applies a patch in place. */
type Apply = (copy: ApiObject) => Steps<unknown>

export class PatchWrite extends ChangeWrite {
  readonly apply: Apply
  readonly decode: PatchRequest['decode']
  /** The object in the request's version, at first without the patch. */
  patched: unknown = undefined

  constructor (write: ObjectWrite, request: PatchRequest) {
    super(write)
    this.apply = patched(request)
    this.decode = request.decode
  }
}

/** Each attempt patches a copy. */
export function copy (write: PatchWrite): void {
  write.patched = write.store.toVersion(write.base).copy()
}

/** @throws StatusError 413, 422 */
export function * applyPatch (write: PatchWrite): Steps<void> {
  write.patched = yield * write.apply(write.patched as ApiObject) // as copied
}

/** @throws StatusError 400, 422 */
export function decodePatched (write: PatchWrite): void { write.object = write.decode(write.patched) }

export const PATCH = changeOf<PatchWrite>([
  { name: 'copy', run: copy },
  { name: 'patch', isLong: true, run: applyPatch },
  { name: 'decode', run: decodePatched },
  { name: 'convert', run: convert },
  { name: 'identify', run: ({ store, object, target }) => { matchTarget(store, object, target) } }
])

/** @throws StatusError 400, 404, 409 Conflict, 422, any admission refusal; StorageError */
export async function patch (
  store: ResourceStore, request: PatchRequest, target: Target, context: WriteContext
): Promise<Written> {
  return await runChange(PATCH, new PatchWrite({ store, target, context }, request))
}

/**
 * @returns a function that applies the patch to an object
 * @throws StatusError 400 for a malformed patch
 */
export function patched ({ type, patch, message, shown = object => object }: Omit<PatchRequest, 'decode'>): Apply {
  if (type === JSON_PATCH_TYPE) {
    const operations = parseJsonPatch(patch)
    return function * (copy) {
      const seen = shown(copy)
      yield
      return yield * applyJsonPatch(seen, operations)
    }
  }
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    throw badRequest('a merge patch must be an object')
  }
  if (type === STRATEGIC_MERGE_PATCH_TYPE) return copy => strategicMerge(message, { ...shown(copy) }, { ...patch })
  return function * (copy) { return mergePatch(shown(copy), patch) }
}
