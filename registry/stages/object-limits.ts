/** Size limits of objects, which hold on every back end. */
import { TooManyError } from '../../schemas/language/decode-error.js'
import { MAX_STORED_BYTES, MAX_VALUES } from '../../schemas/limits.js'
import { tooLarge } from '../../schemas/status.js'
import type { Steps } from '../../schemas/steps.js'
import { valuesIn } from '../../schemas/language/growth.js'
import type { UnversionedJson } from '../../storage/cache/unversioned.js'
import type { StoredWrite } from './writes.js'

/** Smaller bodies stay small with their defaults. */
const GROWING_BYTES = 4096

/**
 * Counts the values of the object that a write begins with where they may be many, and refuses it before further work
 * if they are too many.
 * @throws StatusError 413
 */
export function measure (write: StoredWrite): void {
  const { object, store, context, size } = write
  // Schemas of definitions may have any defaults.
  if (size < GROWING_BYTES && context.mayGrow !== true && store.stored.protobuf) return
  const values = valuesIn(object, MAX_VALUES)
  if (values > MAX_VALUES) {
    throw tooLarge(`the object would hold more values with its defaults than the limit of ${MAX_VALUES}`)
  }
  write.values = values
}

/**
 * Runs `make` on a patched or applied object.
 * @throws StatusError 413 if the object has too many values; any error of `make`
 */
export function reportTooLarge<T> (make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof TooManyError ? tooLarge(`the object would hold more than ${error.limit}`) : error
  }
}

/** etcd limits the request, which also contains the key up to three times and the comparison. */
const REQUEST_BYTES = 2 * 1024

/** @throws StatusError 413 if the object has more values than may be stored */
export function * limitValues ({ unlimitedBytes }: StoredWrite, json: UnversionedJson): Steps<void> {
  if (json.length <= unlimitedBytes) return
  if (json.length <= MAX_VALUES) return // each takes more than a byte
  yield
  const values = json.values()
  if (values > MAX_VALUES) {
    throw tooLarge(`the object would hold ${values} values with the owners of its fields, limit is ${MAX_VALUES}`)
  }
  yield
}

/** @throws StatusError 413 if the value of an object with that JSON is too long to be stored */
export function limitBytes ({ unlimitedBytes }: StoredWrite, json: UnversionedJson, { length }: Uint8Array): void {
  const limit = MAX_STORED_BYTES - REQUEST_BYTES
  if (length <= limit || json.length <= unlimitedBytes) return
  throw tooLarge(`the object would be stored in ${length} bytes with the owners of its fields, limit is ${limit}`)
}
