/** PUT. On a conflict it runs again on the current object, unless the request named a resourceVersion. */
import { clone } from '../../schemas/language/values.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { ResourceStore } from '../resource-store.js'
import { DECODING } from '../stages/decode.js'
import { matchTarget, requireUid } from '../stages/identity.js'
import { mergeOwnerReferences } from '../stages/owner-references.js'
import type { Stage } from '../stages/run.js'
import { Given, present, type Sent } from '../stages/write.js'
import { ChangeWrite } from '../stages/writes.js'
import type { ObjectWrite, Target, WriteContext } from '../write-context.js'
import { changeOf, createMissing, runChange, type Written } from './change.js'

export class UpdateWrite extends ChangeWrite {
  /** As that of a creation. */
  readonly given: Given<ApiObject>
  #replacement: ApiObject | undefined = undefined

  constructor (write: ObjectWrite, given: ApiObject | Sent<ApiObject>) {
    super(write)
    this.given = new Given(given)
    if (this.given.sent === undefined) this.object = this.given.value
  }

  get replacement (): ApiObject { return present(this.#replacement, 'replacement') }
  set replacement (object: ApiObject) { this.#replacement = object }
}

/** Of a missing object, a uid is a conflict; in later releases the object is missing. @throws StatusError 400 */
export function identify (write: UpdateWrite): void {
  const { store, object, target, context, subresource } = write
  matchTarget(store, object, target)
  mergeOwnerReferences(object, context.caller)
  write.replacement = object
  const isConflict = (object.metadata.uid ?? '') !== '' && !store.gates.enabled('MissingWithUidIsNotFound')
  write.mayCreate = isConflict || (store.representation.createOnUpdate && subresource === '')
}

/** Each attempt changes a copy. @throws StatusError 409 */
export function replace (write: UpdateWrite): void {
  const { store, replacement, current, target } = write
  requireUid(replacement, current === undefined ? { metadata: {} } : write.oldObject, target, store.resource)
  write.object = clone(replacement)
}

export const UPDATE: ReadonlyArray<Stage<UpdateWrite>> = [
  ...DECODING,
  { name: 'identify', run: identify },
  ...changeOf<UpdateWrite>([{ name: 'replace', run: replace }, createMissing()])
]

/**
 * @param given in the stored version, which is changed in place, or decodes the object that a client sent
 * @throws StatusError 400, 404, 409 Conflict, 422, any admission refusal; StorageError
 */
export async function update (
  store: ResourceStore, given: ApiObject | Sent<ApiObject>, target: Target, context: WriteContext
): Promise<Written> {
  return await runChange(UPDATE, new UpdateWrite({ store, target, context }, given))
}
