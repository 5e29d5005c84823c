/** Converts what a client sent to the stored version. */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Steps } from '../../schemas/steps.js'
import { DECODE, type Given } from './given.js'
import type { Stage } from './run.js'
import type { StoredWrite } from './writes.js'

/** @throws StatusError 413 if its defaults make it too large */
export function * convert (write: StoredWrite): Steps<void> {
  write.object = yield * write.store.fromVersion(write.object)
}

type SentWrite = StoredWrite & { readonly given: Given<ApiObject> }

/** For objects that come from a client. */
export const DECODING: ReadonlyArray<Stage<SentWrite>> = [
  DECODE,
  {
    name: 'convert',
    when: ({ given }) => given.sent !== undefined,
    run: function * (write) { write.object = yield * write.store.fromVersion(write.given.value) }
  }
]
