/** Decodes what a client sent, and converts it to the stored version. */
import type { Steps } from '../../schemas/steps.js'
import type { Stage } from './run.js'
import type { StoredWrite } from './writes.js'

/** @throws StatusError 413 if its defaults make it too large */
export function * convert (write: StoredWrite): Steps<void> {
  write.object = yield * write.store.fromVersion(write.object)
}

const isSent = ({ sent }: StoredWrite): boolean => sent !== undefined

export const DECODE_SPAN = 'Decode'

/** For objects that come from a client. */
export const DECODING: ReadonlyArray<Stage<StoredWrite>> = [
  {
    name: 'decode',
    span: DECODE_SPAN,
    begins: true,
    when: isSent,
    run: function * (write) { if (write.sent !== undefined) write.object = yield * write.sent() }
  },
  { name: 'convert', when: isSent, run: convert }
]
