/** DELETE of a collection: lists the selected objects and deletes them with several workers. */
import { endedBefore, isStatusError, type StatusError } from '../../schemas/status.js'
import type { WaitingSteps } from '../../schemas/steps.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../resource-store.js'
import { DECODE } from '../stages/decode.js'
import { runStages, runSteps, type Stage } from '../stages/run.js'
import { Given, present, type Sent, Write } from '../stages/write.js'
import type { WriteContext } from '../write-context.js'
import { remove, type DeleteRequest } from './delete.js'
import type { MayReadFrom } from './former-namespace.js'
import type { ListResult, ListRequest } from './list-request.js'
import { list } from './list.js'

export interface CollectionRequest {
  readonly selection: ListRequest
  /** As in `list`. */
  readonly mayReadFrom?: MayReadFrom | undefined
  /** Of each object. */
  readonly deletion: DeleteRequest | Sent<DeleteRequest>
  readonly workers: number
}

export class CollectionWrite extends Write {
  readonly request: CollectionRequest
  readonly given: Given<DeleteRequest>
  listed: ListResult | undefined = undefined
  /** What is listed and not deleted yet; all workers take from it. */
  queue: Iterable<Entry> = []
  failure: unknown = undefined

  constructor (store: ResourceStore, request: CollectionRequest, context: WriteContext) {
    super({ store, target: { namespace: request.selection.namespace, name: '' }, context }, 'DELETE')
    this.request = request
    this.given = new Given(request.deletion)
  }
}

const COLLECTION: ReadonlyArray<Stage<CollectionWrite>> = [
  DECODE,
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
  return present(write.listed, 'list')
}

export async function find (write: CollectionWrite): Promise<void> {
  const { store, request: { selection, mayReadFrom } } = write
  const listed = write.listed = await list(store, selection, mayReadFrom)
  write.queue = listed.entries.values()
}

export async function removeAll (write: CollectionWrite): Promise<void> {
  const work = async (): Promise<void> => { await runSteps(removeNext(write), write, true) }
  const workers = Math.max(1, write.request.workers)
  await Promise.all(
    Array.from({ length: workers }, () => work().catch((failure: unknown) => { write.failure ??= failure }))
  )
  if (write.failure !== undefined) throw write.failure
}

/** Takes objects from the common queue until one fails. */
function * removeNext (write: CollectionWrite): WaitingSteps<void> {
  const { store, context, context: { caller }, request: { selection: { signal } }, given: { value: deletion } } = write
  const ended = (): boolean => caller.isGone === true || signal?.aborted === true
  for (const { name, namespace } of write.queue) {
    if (write.failure !== undefined) return
    yield // the memory store and dry runs answer within the turn
    if (ended()) throw incomplete()
    yield remove(store, { name, namespace }, deletion, context).then(() => {}, (error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw ended() && isStatusError(error, 'Timeout') ? incomplete() : error
    })
  }
}

const incomplete = (): StatusError => endedBefore('the whole collection was deleted')
