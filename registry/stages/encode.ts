/** Encodes objects for the store. A dry run encodes them too, to answer as the write would. */
import { removeUnstoredEmpty } from '../../schemas/language/unset.js'
import { waitFor, type Steps, type WaitingSteps } from '../../schemas/steps.js'
import type { Entry } from '../../storage/cache/entry.js'
import { isKey } from '../../storage/key.js'
import type { UnversionedJson } from '../../storage/cache/unversioned.js'
import { refuse } from '../write-context.js'
import { limitBytes, limitValues } from './object-limits.js'
import type { ChangeWrite, CreateWrite, StoredWrite } from './writes.js'

/** @throws StatusError 413, 422 if the name is too long for a key */
export function * encodeNew (write: CreateWrite): Steps<void> {
  const { store, object, namespace } = write
  removeUnstoredEmpty(store.stored.message, object)
  write.key = store.keys.of(namespace, object.metadata.name ?? '')
  if (!isKey(write.key)) {
    const detail = 'the name is longer than the store can hold'
    refuse(store, object, [{ type: 'FieldValueTooLong', field: 'metadata.name', detail }])
  }
  yield * encode(write, yield * store.entries.unversioned(object))
}

/** Encodes a changed object. The write is over if nothing changed. @throws StatusError 413 */
export function * encodeChange (write: ChangeWrite): WaitingSteps<void> {
  const { store, object, base, dryRun } = write
  removeUnstoredEmpty(store.stored.message, object)
  const json = yield * store.entries.unversioned(object)
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
  if (dryRun) write.result = store.entries.of(base.key, object, base.revision)
}

function * encode (write: StoredWrite, json: UnversionedJson): Steps<void> {
  const { store, object, key } = write
  yield * limitValues(write, json)
  const value = store.entries.encode(object)
  limitBytes(write, json, value)
  const make = store.entries.at(key, object, json)
  let made: Entry | undefined
  // The cache and the answer share the entry, which the first of them creates.
  write.encoded = { value, entry: revision => made?.revision === revision ? made : made = make(revision) }
}
