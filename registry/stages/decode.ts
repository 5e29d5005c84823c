/**
 * The first stages of what a client sent: it is decoded, converted with its defaults, and loses what the release does
 * not have.
 */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Steps } from '../../schemas/steps.js'
import type { Stage } from './run.js'
import type { Given, Write } from './write.js'
import type { ChangeWrite, CreateWrite, StoredWrite } from './writes.js'

export const DECODE: Stage<Write & { readonly given: Given<object> }> = {
  name: 'decode',
  span: 'Decode',
  when: ({ given }) => given.sent !== undefined,
  run: ({ given }) => given.decode()
}

/** Converts what a client sent to the stored version, with its defaults. @throws StatusError 413 if they are large */
export function * convertAndDefault (write: StoredWrite): Steps<void> {
  write.object = yield * write.store.conversion.fromSent(write.object)
}

type SentWrite = StoredWrite & { readonly given: Given<ApiObject> }

/** For objects that come from a client. */
export const DECODING: ReadonlyArray<Stage<SentWrite>> = [
  DECODE,
  {
    name: 'convert and default',
    when: ({ given }) => given.sent !== undefined,
    run: write => {
      write.object = write.given.value
      return convertAndDefault(write)
    }
  }
]

/**
 * Drops what the emulated release does not have, and the old object neither. Early, so that nobody owns it and no
 * webhook sees it. @throws StatusError 400 if the client asked to hear of unknown fields
 */
export function dropUnknown ({ store, object, oldObject, context }: CreateWrite | ChangeWrite): void {
  const unknown = store.gated.dropUnknown(object, oldObject)
  unknown.push(...store.strategy.dropUnknown?.(object, oldObject, store.gates) ?? [])
  if (unknown.length > 0) context.unknown?.(unknown)
}
