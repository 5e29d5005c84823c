/** Errors of writes that another writer was faster than. */
import { isStatusError, type StatusReason } from '../schemas/status.js'

/** For `catch`: the object's next change queues it again. Other errors are thrown. */
export const ignoring = (...reasons: readonly StatusReason[]) => (error: unknown): void => {
  if (!reasons.some(reason => isStatusError(error, reason))) throw error
}
