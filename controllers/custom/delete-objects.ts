/** Deletes all objects of a type. */
import { isStatusError } from '../../schemas/status.js'
import { EVERYTHING } from '../../registry/verbs/list-request.js'
import { list } from '../../registry/verbs/list.js'
import { remove } from '../../registry/verbs/delete.js'
import type { WriteContext } from '../../registry/write-context.js'
import type { ResourceStore } from '../../registry/resource-store.js'

/** Concurrent deletions. */
const WORKERS = 8

/**
 * One pass over the objects, whose dependents are orphaned if that was asked before. Resolves to how many there were,
 * and how many their finalizers still hold.
 */
export async function deleteAll (store: ResourceStore, context: WriteContext): Promise<{
  seen: number, remaining: number
}> {
  const { entries } = await list(store, EVERYTHING)
  const queue = entries.values()
  let remaining = 0
  const work = async (): Promise<void> => {
    for (const { name, fields: [, namespace = ''] } of queue) {
      const removed =
        await remove(store, { namespace, name }, { admitted: true }, context)
          .then(({ removed }) => removed, (error: unknown) => {
            if (isStatusError(error, 'NotFound')) return true
            if (isStatusError(error, 'Conflict')) return false
            throw error
          })
      if (!removed) remaining++
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, work))
  return { seen: entries.length, remaining }
}
