/** PATCH: applies a difference to the current object. */
import type { Message } from '../../schemas/language/declare.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { JSON_PATCH_TYPE, STRATEGIC_MERGE_PATCH_TYPE, type PatchType } from '../../schemas/media-types.js'
import { badRequest } from '../../schemas/status.js'
import type { Steps } from '../../schemas/steps.js'
import { applyJsonPatch, parseJsonPatch } from '../patch/json-patch.js'
import { mergePatch } from '../patch/merge-patch.js'
import { strategicMerge } from '../patch/strategic.js'
import type { ResourceStore } from '../resource-store.js'
import { convert } from '../stages/convert.js'
import { DECODE, Given, type Sent } from '../stages/given.js'
import type { Stage } from '../stages/run.js'
import { ChangeWrite } from '../stages/writes.js'
import { matchTarget } from '../stages/identity.js'
import type { ObjectWrite, Target, WriteContext } from '../write-context.js'
import { changeOf, runChange, type Written } from './change.js'

export interface PatchRequest {
  /** Applies the patch in place. Throws a StatusError 413, 422. */
  readonly apply: (copy: ApiObject) => Steps<unknown>
  /** Decodes the patched JSON and checks unknown fields. Throws a StatusError. */
  readonly decode: (patched: unknown) => ApiObject
}

export class PatchWrite extends ChangeWrite {
  readonly given: Given<PatchRequest>
  /** The object in the request's version, at first without the patch. */
  patched: unknown = undefined

  constructor (write: ObjectWrite, given: PatchRequest | Sent<PatchRequest>) {
    super(write)
    this.given = new Given(given)
  }
}

/** Each attempt patches a copy. */
export function copy (write: PatchWrite): void {
  write.patched = write.store.toVersion(write.base).copy()
}

/** @throws StatusError 413, 422 */
export function * applyPatch (write: PatchWrite): Steps<void> {
  write.patched = yield * write.given.value.apply(write.patched as ApiObject) // as copied
}

/** @throws StatusError 400, 422 */
export function decodePatched (write: PatchWrite): void { write.object = write.given.value.decode(write.patched) }

export const PATCH: ReadonlyArray<Stage<PatchWrite>> = [
  DECODE,
  ...changeOf<PatchWrite>([
    { name: 'copy', run: copy },
    { name: 'patch', isLong: true, run: applyPatch },
    { name: 'decode patched', run: decodePatched },
    { name: 'convert', run: convert },
    { name: 'identify', run: ({ store, object, target }) => { matchTarget(store, object, target) } }
  ])
]

/** @throws StatusError 400, 404, 409 Conflict, 422, any admission refusal; StorageError */
export async function patch (
  store: ResourceStore, given: PatchRequest | Sent<PatchRequest>, target: Target, context: WriteContext
): Promise<Written> {
  return await runChange(PATCH, new PatchWrite({ store, target, context }, given))
}

/**
 * @param message of what is patched
 * @param patch as parsed
 * @returns a function that applies the patch to an object
 * @throws StatusError 400 for a malformed patch
 */
export function patched (type: PatchType, message: Message, patch: unknown): PatchRequest['apply'] {
  if (type === JSON_PATCH_TYPE) {
    const operations = parseJsonPatch(patch)
    return copy => applyJsonPatch(copy, operations)
  }
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    throw badRequest('a merge patch must be an object')
  }
  if (type === STRATEGIC_MERGE_PATCH_TYPE) return copy => mergedStrategically(message, copy, patch)
  return function * (copy) { return mergePatch(copy, patch) }
}

/** As upstream, the type of the object is its own, whatever text the patch has for its name. */
function * mergedStrategically (message: Message, copy: ApiObject, patch: object): Steps<unknown> {
  const { apiVersion, kind } = copy
  const made = yield * strategicMerge(message, { ...copy }, { ...patch })
  for (const [name, own] of Object.entries({ apiVersion, kind })) if (typeof made[name] === 'string') made[name] = own
  return made
}
