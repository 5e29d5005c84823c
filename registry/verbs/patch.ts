/** PATCH: applies a difference to the current object. */
import type { Message } from '../../schemas/language/declare.js'
import type { Plain } from '../../schemas/language/types.js'
import { clone } from '../../schemas/language/values.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { JSON_PATCH_TYPE, STRATEGIC_MERGE_PATCH_TYPE, type PatchType } from '../../schemas/media-types.js'
import { badRequest } from '../../schemas/status.js'
import type { Steps } from '../../schemas/steps.js'
import { applyJsonPatch, parseJsonPatch } from '../patch/json-patch.js'
import { mergePatch } from '../patch/merge-patch.js'
import { strategicMerge } from '../patch/strategic.js'
import type { ResourceStore } from '../resource-store.js'
import { convertAndDefault, DECODE } from '../stages/decode.js'
import type { Stage } from '../stages/run.js'
import { Given, type Sent } from '../stages/write.js'
import { ChangeWrite } from '../stages/writes.js'
import { matchTarget } from '../stages/identity.js'
import { membersOf } from '../stages/prepare.js'
import type { ObjectWrite, Target, WriteContext } from '../write-context.js'
import { changeOf, runChange, type Written } from './change.js'

export interface PatchRequest {
  /** The members of the object that it may change; undefined if it may change any. */
  readonly members?: readonly string[] | undefined
  /** Applies the patch in place. Throws a StatusError 413, 422. */
  readonly apply: (copy: ApiObject) => Steps<unknown>
  /** Decodes the patched JSON and checks unknown fields. Throws a StatusError. */
  readonly decode: (patched: unknown) => ApiObject
}

export class PatchWrite extends ChangeWrite {
  readonly given: Given<PatchRequest>
  /** The object in the request's version, at first without the patch, and without what is left alone. */
  patched: unknown = undefined
  /** What is taken from the old object as it is. */
  leftAlone: readonly string[] = []

  constructor (write: ObjectWrite, given: PatchRequest | Sent<PatchRequest>) {
    super(write)
    this.given = new Given(given)
  }
}

/**
 * Each attempt patches a copy, if possible of nothing but what the patch is about: a status is a small part of its
 * object. Benchmark: `npm run bench -- production`, 'status of a Pod, 8 KB, embedded': a fifth more without.
 */
export function copy (write: PatchWrite): void {
  const { store, base, oldObject, given: { value: { members } } } = write
  const { representation: { conversion, protobuf, apiVersion, kind } } = store
  // Objects of other types may hold what their definition has lost since, which is reported.
  if (members === undefined || conversion !== undefined || !protobuf) {
    write.leftAlone = []
    write.patched = store.conversion.forClients(base).copy()
    return
  }
  const patched: Plain = { apiVersion, kind }
  for (const name of members) if (Object.hasOwn(oldObject, name)) patched[name] = clone(membersOf(oldObject)[name])
  write.leftAlone = Object.keys(oldObject).filter(name => !Object.hasOwn(patched, name))
  write.patched = patched
}

/** @throws StatusError 413, 422 */
export function * applyPatch (write: PatchWrite): Steps<void> {
  write.patched = yield * write.given.value.apply(write.patched as ApiObject) // as copied
}

/** @throws StatusError 400, 422 */
export function decodePatched (write: PatchWrite): void {
  const object = write.given.value.decode(write.patched)
  for (const name of write.leftAlone) membersOf(object)[name] = clone(membersOf(write.oldObject)[name])
  write.object = object
}

export const PATCH: ReadonlyArray<Stage<PatchWrite>> = [
  DECODE,
  ...changeOf<PatchWrite>([
    { name: 'copy', run: copy },
    { name: 'patch', isLong: true, run: applyPatch },
    { name: 'decode patched', run: decodePatched },
    { name: 'convert and default', run: convertAndDefault },
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
 * @returns what applies the patch to an object
 * @throws StatusError 400 for a malformed patch
 */
export function patched (
  type: PatchType, message: Message, patch: unknown
): Pick<PatchRequest, 'apply' | 'members'> {
  if (type === JSON_PATCH_TYPE) {
    const operations = parseJsonPatch(patch)
    return { apply: copy => applyJsonPatch(copy, operations) }
  }
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    throw badRequest('a merge patch must be an object')
  }
  const members = Object.keys(patch)
  if (type !== STRATEGIC_MERGE_PATCH_TYPE) {
    return { members, apply: function * (copy) { return mergePatch(copy, patch) } }
  }
  const isAboutAll = members.some(name => name.startsWith('$')) // a directive
  return { members: isAboutAll ? undefined : members, apply: copy => mergedStrategically(message, copy, patch) }
}

/** As upstream, the type of the object is its own, whatever text the patch has for its name. */
function * mergedStrategically (message: Message, copy: ApiObject, patch: object): Steps<unknown> {
  const { apiVersion, kind } = copy
  const patched = yield * strategicMerge(message, { ...copy }, { ...patch })
  for (const [name, own] of Object.entries({ apiVersion, kind })) {
    if (typeof patched[name] === 'string') patched[name] = own
  }
  return patched
}
