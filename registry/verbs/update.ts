/** PUT. On a conflict it runs again on the current object, unless the request named a resourceVersion. */
import { clone } from '../../schemas/language/values.js'
import type { ApiObject } from '../../schemas/resource.js'
import { conflict, isStatusError, notFound } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../resource-store.js'
import { MODIFIED } from '../stages/expected-version.js'
import { mergeOwnerReferences } from '../stages/owner-references.js'
import { DECODING } from '../stages/convert.js'
import { runStages, type Stage } from '../stages/run.js'
import { ChangeWrite, StoredWrite, type Sent } from '../stages/writes.js'
import { changeOf, runChange } from './change.js'
import type { Target, WriteContext } from '../write-context.js'
import { create } from './create.js'
import { matchTarget, requireUid } from '../stages/identity.js'

export interface Written {
  readonly entry: Entry
  /** True if the object was created, false if it was replaced. */
  readonly created: boolean
}

/** An update as a whole: each of its attempts has a write of its own. */
class Replacement extends StoredWrite {
  constructor (store: ResourceStore, object: ApiObject | Sent, target: Target, context: WriteContext) {
    super(store, target, context, 'UPDATE')
    if (typeof object === 'function') this.sent = object
    else this.object = object
  }
}

/** @throws StatusError 400 */
function identify ({ store, object, target, context }: Replacement): void {
  matchTarget(store, object, target)
  mergeOwnerReferences(object, context.caller)
}

const READING: ReadonlyArray<Stage<Replacement>> = [...DECODING, { name: 'identify', run: identify }]

class UpdateWrite extends ChangeWrite {
  readonly replacement: ApiObject

  constructor ({ store, object, target, context }: Replacement) {
    super(store, target, context, 'UPDATE')
    this.replacement = object
    this.mayBeMissing = true
  }
}

/** Each attempt changes a copy. @throws StatusError 409 */
export function replace (write: UpdateWrite): void {
  const { store, replacement, oldObject, target } = write
  requireUid(replacement, oldObject, target, store.resource)
  write.object = clone(replacement)
}

export const UPDATE = changeOf<UpdateWrite>([{ name: 'replace', run: replace }])

/** Retries of an update or apply when other clients keep creating and deleting the object. */
export const MAX_ATTEMPTS = 20

/**
 * @param given in the stored version, which is changed in place, or decodes the object that a client sent
 * @throws StatusError 400, 404, 409 Conflict, 422, any admission refusal; StorageError
 */
export async function update (
  store: ResourceStore, given: ApiObject | Sent, target: Target, context: WriteContext
): Promise<Written> {
  const replacement = new Replacement(store, given, target, context)
  await runStages(READING, replacement)
  const { object, object: { metadata: { uid = '' } } } = replacement
  const createOnUpdate = store.representation.createOnUpdate && (target.subresource ?? '') === ''
  // Start over if the object appears or disappears between the read and the write.
  for (let attempts = 0; ; attempts++) {
    const replaced = await runChange(UPDATE, new UpdateWrite(replacement))
    if (replaced !== undefined) return { entry: replaced, created: false }
    if (uid !== '') {
      throw conflict(
        store.resource, target.name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: `
      )
    }
    if (!createOnUpdate) throw notFound(store.resource, target.name)
    await context.mayCreate?.()
    try {
      return { entry: await create(store, clone(object), target, context), created: true }
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
      if (attempts === MAX_ATTEMPTS) throw conflict(store.resource, target.name, MODIFIED)
    }
  }
}
