/** Encodes objects for the store. A dry run encodes them too, to answer as the write would. */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { removeUnstoredEmpty } from '../../schemas/language/unset.js'
import { waitFor, type WaitingSteps } from '../../schemas/steps.js'
import type { Entry } from '../../storage/cache/entry.js'
import { isKey } from '../../storage/key.js'
import type { UnversionedJson } from '../../storage/cache/unversioned.js'
import { refuse } from '../write-context.js'
import { limitBytes, limitValues } from './object-limits.js'
import type { ChangeWrite, CreateWrite, StoredWrite } from './writes.js'

/** Converts the object, as readers will get it. @throws StatusError 413 */
export function toStoredForm (write: StoredWrite): ApiObject {
  const { store, object } = write
  const storedForm = store.conversion.asStored(object)
  removeUnstoredEmpty(store.stored.message, storedForm)
  write.storedForm = storedForm
  return storedForm
}

/** @throws StatusError 413, 422 if the name is too long for a key; 500 of a conversion */
export function * encodeNew (write: CreateWrite): WaitingSteps<void> {
  const { store, namespace } = write
  const object = toStoredForm(write)
  write.key = store.keys.of(namespace, object.metadata.name ?? '')
  if (!isKey(write.key)) {
    const detail = 'the name is longer than the store can hold'
    refuse(store, object, [{ type: 'FieldValueTooLong', field: 'metadata.name', detail }])
  }
  yield * encode(write, yield * store.entries.unversioned(object))
}

/** Encodes a changed object. The write is over if nothing changed. @throws StatusError 413; 500 of a conversion */
export function * encodeChange (write: ChangeWrite): WaitingSteps<void> {
  const { store, base, dryRun } = write
  const json = yield * store.entries.unversioned(toStoredForm(write))
  yield
  if (json.isOf(base.json, base.revision)) {
    // A dry run does not store an object again that is encrypted with an older key.
    const isOutdated = !dryRun && (yield * waitFor(store.backend.outdated?.(base.key))) === true
    if (!isOutdated) {
      write.result = base
      return
    }
  }
  yield * encode(write, json)
  if (dryRun) write.result = write.encoded?.entry(base.revision)
}

function * encode (write: StoredWrite, json: UnversionedJson): WaitingSteps<void> {
  const { store, key } = write
  write.json = json
  yield * limitValues(write, json)
  const value = store.entries.encode(write.storedForm)
  limitBytes(write, json, value)
  const readBack = yield * asRead(write, json, value)
  const make = store.entries.at(key, write.storedForm, readBack)
  let entry: Entry | undefined
  // The cache and the answer share the entry, which the first of them creates.
  write.encoded = { value, entry: revision => entry?.revision === revision ? entry : entry = make(revision) }
}

/** Where the store converts what it is given, as it converts it back: under a dry run too. */
function * asRead (write: StoredWrite, json: UnversionedJson, value: Uint8Array): WaitingSteps<UnversionedJson> {
  const { store: { backend, entries }, key } = write
  if (backend.asRead === undefined) return json
  write.storedForm = entries.object(key, yield * waitFor(backend.asRead(key, value)))
  return yield * entries.unversioned(write.storedForm)
}
