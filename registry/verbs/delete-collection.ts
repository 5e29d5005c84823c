/** DELETE of a collection: lists the selected objects and deletes them with several workers. */
import { StatusError, isStatusError } from '../../schemas/status.js'
import { withSpan } from '../trace.js'
import type { ResourceStore } from '../resource-store.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import type { WriteContext } from '../write-context.js'
import { remove, type DeleteRequest } from './delete.js'
import type { MayReadFrom } from './former-namespace.js'
import { list, type ListResult, type ListRequest } from './list.js'

export interface Selection extends ListRequest {
  /** As in `list`. */
  readonly mayReadFrom?: MayReadFrom | undefined
}

/**
 * Stops at the first failure other than a missing object; objects deleted until then stay deleted.
 * @returns the selected objects, with the continue token of the page
 * @throws StatusError, StorageError as `list` and `remove`
 */
export async function removeCollection (
  store: ResourceStore, selection: Selection, request: DeleteRequest, context: WriteContext, workers: number
): Promise<ListResult> {
  const { mayReadFrom, ...selected } = selection
  const result = await withSpan(context.trace, 'List from storage', () => list(store, selected, mayReadFrom))
  const queue = result.entries.values()
  const failures: unknown[] = []
  const work = async (): Promise<void> => {
    for (const entry of queue) {
      if (failures.length > 0) return
      // The memory store and dry runs resolve without leaving the current event loop turn.
      if (turnIsOver()) await nextTurn()
      if (context.caller.signal.aborted) throw new StatusError('Timeout', 'the request ended before the whole collection was deleted')
      const { name, namespace } = entry
      try {
        await remove(store, { name, namespace }, request, context)
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, workers) }, () => work().catch((error: unknown) => { failures.push(error) })))
  if (failures.length > 0) throw failures[0]
  return result
}
