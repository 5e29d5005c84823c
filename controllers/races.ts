/** Errors of writes that lost against another writer. */
import { isStatusError, type StatusReason } from '../schemas/status.js'

/**
 * For `catch`: ignores these errors, because the other writer's change queues the object again. Rethrows all others.
 */
export const ignoring = (...reasons: readonly StatusReason[]) => (error: unknown): void => {
  if (!reasons.some(reason => isStatusError(error, reason))) throw error
}
