/** PUT. On a conflict it runs again on the current object, unless the request named a resourceVersion. */
import { clone, type ApiObject } from '../../schemas/index.js'
import { conflict, isStatusError, notFound } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../resource-store.js'
import { MODIFIED } from '../stages/expected-version.js'
import { mergeOwnerReferences } from '../stages/owner-references.js'
import { ChangeWrite } from '../stages/writes.js'
import { changeOf, runChange } from './change.js'
import type { Target, WriteContext } from '../write-context.js'
import { create } from './create.js'
import { matchTarget, requireUid } from '../stages/identity.js'

export interface Written {
  readonly entry: Entry
  /** True if the object was created, false if it was replaced. */
  readonly created: boolean
}

class UpdateWrite extends ChangeWrite {
  readonly sent: ApiObject

  constructor (store: ResourceStore, sent: ApiObject, target: Target, context: WriteContext) {
    super(store, target, context, 'UPDATE')
    this.sent = sent
    this.mayBeMissing = true
  }
}

/** Each attempt changes a copy. @throws StatusError 409 */
export function replace (write: UpdateWrite): void {
  const { store, sent, oldObject, target } = write
  requireUid(sent, oldObject, target, store.resource)
  write.object = clone(sent)
}

export const UPDATE = changeOf<UpdateWrite>([{ name: 'replace', run: replace }])

/** Retries when other clients keep creating and deleting the object. */
const MAX_ATTEMPTS = 20

/**
 * @param object may be changed in place
 * @throws StatusError 400, 404, 409 Conflict, 422, any admission refusal; StorageError
 */
export async function update (store: ResourceStore, object: ApiObject, target: Target, context: WriteContext): Promise<Written> {
  matchTarget(store, object, target)
  mergeOwnerReferences(object, context.warn)
  const { uid = '' } = object.metadata
  const createOnUpdate = store.representation.createOnUpdate && (target.subresource ?? '') === ''
  // Start over if the object appears or disappears between the read and the write.
  for (let attempts = 0; ; attempts++) {
    const replaced = await runChange(UPDATE, new UpdateWrite(store, object, target, context))
    if (replaced !== undefined) return { entry: replaced, created: false }
    if (uid !== '') throw conflict(store.resource, target.name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: `)
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
