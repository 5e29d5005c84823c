/** DELETE of a collection: lists the selected objects and deletes them with several workers. */
import { StatusError, isStatusError } from '../../schemas/status.js'
import type { WaitingSteps } from '../../schemas/steps.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../resource-store.js'
import { runStages, runSteps, type Stage } from '../stages/run.js'
import { Write } from '../stages/write.js'
import type { WriteContext } from '../write-context.js'
import { remove, type DeleteRequest } from './delete.js'
import type { MayReadFrom } from './former-namespace.js'
import { list, type ListResult, type ListRequest } from './list.js'

export interface CollectionRequest {
  readonly selection: ListRequest
  /** As in `list`. */
  readonly mayReadFrom?: MayReadFrom | undefined
  /** Of each object. */
  readonly deletion: DeleteRequest
  readonly workers: number
}

class CollectionWrite extends Write {
  readonly request: CollectionRequest
  listed!: ListResult // set by the first stage
  queue!: Iterator<Entry> & Iterable<Entry> // of what is listed
  failure: unknown = undefined

  constructor (store: ResourceStore, request: CollectionRequest, context: WriteContext) {
    super(store, { namespace: request.selection.namespace, name: '' }, context, 'DELETE')
    this.request = request
  }
}

const COLLECTION: ReadonlyArray<Stage<CollectionWrite>> = [
  { name: 'list', span: 'List from storage', run: find },
  { name: 'delete', run: removeAll }
]

/**
 * Stops at the first failure other than a missing object; objects deleted until then stay deleted.
 * @returns the selected objects, with the continue token of the page
 * @throws StatusError, StorageError as `list` and `remove`
 */
export async function removeCollection (
  store: ResourceStore, request: CollectionRequest, context: WriteContext
): Promise<ListResult> {
  const write = new CollectionWrite(store, request, context)
  await runStages(COLLECTION, write)
  return write.listed
}

async function find (write: CollectionWrite): Promise<void> {
  const { store, request: { selection, mayReadFrom } } = write
  write.listed = await list(store, selection, mayReadFrom)
  write.queue = write.listed.entries.values()
}

async function removeAll (write: CollectionWrite): Promise<void> {
  const work = async (): Promise<void> => { await runSteps(removeNext(write), write, true) }
  const workers = Math.max(1, write.request.workers)
  await Promise.all(
    Array.from({ length: workers }, () => work().catch((failure: unknown) => { write.failure ??= failure }))
  )
  if (write.failure !== undefined) throw write.failure
}

/** Takes objects from the common queue until one fails. */
function * removeNext (write: CollectionWrite): WaitingSteps<void> {
  const { store, context, request: { selection, deletion } } = write
  for (const { name, namespace } of write.queue) {
    if (write.failure !== undefined) return
    yield // the memory store and dry runs answer within the turn
    if (selection.signal?.aborted === true) {
      throw new StatusError('Timeout', 'the request ended before the whole collection was deleted')
    }
    yield remove(store, { name, namespace }, deletion, context).then(() => {}, (error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error
    })
  }
}
