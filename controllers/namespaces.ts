/**
 * Empties terminating namespaces and removes their finalizer, so that no controller manager is required. Beside one it
 * is harmless: each step uses the current state and treats conflicts as another's success. Pods go first, and the rest
 * when none is left: a pod that is still shutting down keeps its network policies, secrets and services. See
 * `namespace-defaults.ts` for other namespaces.
 */
import type { ApiObject } from '../schemas/meta/api-object.js'
import { NAMESPACE_FINALIZER, ORPHAN_FINALIZER } from '../schemas/meta/metadata-rules.js'
import { isStatusError, notFound } from '../schemas/status.js'
import { isStorageError } from '../storage/errors.js'
import { now, serverContext, type WriteContext } from '../registry/write-context.js'
import { remove } from '../registry/verbs/delete.js'
import { EVERYTHING } from '../registry/verbs/list-request.js'
import { list } from '../registry/verbs/list.js'
import { current } from '../registry/current.js'
import { removable } from '../registry/stages/change.js'
import { change } from '../registry/verbs/change.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { Controller, ControllerOptions } from './controller.js'
import { Informer } from './informer.js'
import type { DeletionResult, RemoteContents } from './aggregation/remote-contents.js'
import {
  conditionsOf, count, nothingRemaining, type RemainingContents, type Condition
} from './namespace-conditions.js'
import { WorkQueue, type Verdict } from './work-queue.js'

/** Concurrent namespaces, and concurrent objects per namespace. */
const WORKERS = 8

export interface NamespaceControllerOptions extends ControllerOptions {
  /** What extension servers serve in a namespace. Default nothing. */
  readonly remote?: RemoteContents | undefined
}

/** The contents of a terminating namespace, in one step. */
interface Contents {
  readonly namespace: string
  readonly uid: string | undefined
  readonly counts: RemainingContents
  /** Whether the namespace was not replaced by another of the same name. */
  readonly isCurrent: () => Promise<boolean>
  readonly context: WriteContext
}

export class NamespaceController implements Controller {
  readonly #resources: ResourceRegistry
  readonly #options: NamespaceControllerOptions
  readonly #queue: WorkQueue
  #context: WriteContext | undefined
  #informer: Informer | undefined

  constructor (options: NamespaceControllerOptions) {
    this.#options = options
    this.#resources = options.resources
    this.#queue = new WorkQueue({
      workers: WORKERS,
      work: (name, signal) => this.#reconcile(name, this.#context ??= serverContext(signal), signal),
      failed: (name, error) => {
        if (!isStorageError(error, 'Closed')) options.log(`reconciling namespace ${name} failed, retrying`, error)
      },
      name: 'namespace',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  /** Resolves when every existing namespace has been queued. */
  async start (): Promise<void> {
    const { log, clock } = this.#options
    const store = this.#namespaces
    if (store === undefined) return
    this.#informer?.close()
    this.#informer = new Informer({
      store, log, handlers: [{ changed: ({ name }) => { this.#queue.add(name) } }],
      ...(clock === undefined ? {} : { clock })
    })
    await this.#informer.start()
  }

  async close (): Promise<void> {
    this.#informer?.close()
    await this.#queue.close()
  }

  get #namespaces (): ResourceStore | undefined { return this.#resources.find('', 'namespaces') }

  /** One step for a namespace. */
  async #reconcile (name: string, context: WriteContext, signal: AbortSignal): Promise<Verdict> {
    const store = this.#namespaces
    const entry = store === undefined ? undefined : await current(store, store.keys.of('', name))
    if (store === undefined || entry === undefined) return 'done'
    if (entry.object.metadata.deletionTimestamp === undefined) return 'done'
    if (!finalizersOf(entry.object).includes(NAMESPACE_FINALIZER)) return 'done'
    const { uid } = entry.object.metadata
    const counts = nothingRemaining()
    const isCurrent = async (): Promise<boolean> =>
      isTerminating((await current(store, store.keys.of('', name)))?.object, uid)
    const contents = { namespace: name, uid, counts, isCurrent, context }
    const pods = await this.#deletePods(contents)
    if (pods.remaining > 0) {
      await this.#writeConditions(store, contents)
      return 'later'
    }
    const own = await this.#deleteContents(contents)
    const { remote } = this.#options
    if (remote?.ready() === false) return 'later'
    const others = await remote?.empty(name, counts, isCurrent, signal)
    const seen = pods.seen + own.seen + (others?.seen ?? 0)
    const remaining = own.remaining + (others?.remaining ?? 0)
    // The remaining objects are held by finalizers, or by extension servers.
    if (remaining > 0) {
      await this.#writeConditions(store, contents)
      return 'later'
    }
    // Only an empty list after the deletion mark is final: from then on nothing can be created.
    if (seen > 0) return 'again'
    await this.#release(store, name, uid, context)
    return 'done'
  }

  async #deletePods (contents: Contents): Promise<DeletionResult> {
    const pods = this.#resources.find('', 'pods')
    return pods === undefined ? { seen: 0, remaining: 0 } : await this.#deleteResource(pods, contents)
  }

  /**
   * Deletes all objects in the namespace, without orphaning dependents, which are deleted too. Counts objects found and
   * remaining.
   */
  async #deleteContents (contents: Contents): Promise<DeletionResult> {
    let seen = 0
    let remaining = 0
    for (const store of this.#resources.all()) {
      if (!store.type.namespaced) continue
      const emptied = await this.#deleteResource(store, contents)
      seen += emptied.seen
      remaining += emptied.remaining
    }
    return { seen, remaining }
  }

  async #deleteResource (
    store: ResourceStore, { namespace, counts, isCurrent, context }: Contents
  ): Promise<DeletionResult> {
    const { entries } = await list(store, { ...EVERYTHING, namespace })
    const seen = entries.length
    if (seen === 0) return { seen, remaining: 0 }
    // The namespace may have been removed and recreated: the objects found may belong to the new one.
    if (!await isCurrent()) return { seen, remaining: seen }
    const queue = entries.values()
    let remaining = 0
    const work = async (): Promise<void> => {
      for (const entry of queue) {
        const object = store.entries.read(entry)
        const { uid, deletionTimestamp, finalizers = [] } = object.metadata
        // A terminating object that nothing holds is deleted again: the server that marked it ended before removing it.
        if (deletionTimestamp !== undefined && !finalizers.includes(ORPHAN_FINALIZER) && !removable(store, object)) {
          remaining++
          tally(counts, store, object)
          continue
        }
        const deleted = await remove(
          store, { namespace, name: entry.name }, { preconditions: { uid }, propagationPolicy: 'Background' }, context
        )
          .then(({ entry: marked, removed }) => {
            if (!removed) tally(counts, store, store.entries.read(marked))
            return removed
          }, (error: unknown) => {
            if (isStatusError(error, 'NotFound')) return true
            if (isStatusError(error, 'Conflict')) return false
            throw error
          })
        if (!deleted) remaining++
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work))
    return { seen, remaining }
  }

  /** Reports remaining objects in the status. */
  async #writeConditions (store: ResourceStore, { namespace: name, uid, counts, context }: Contents): Promise<void> {
    await change(store, { namespace: '', name, subresource: 'status' }, context, current => {
      const object = current.copy()
      if (!isTerminating(object, uid)) throw notFound(store.resource, name)
      const { status = {} } = object as ApiObject & { status?: { conditions?: Condition[] } }
      Object.assign(object, {
        status: { ...status, conditions: conditionsOf(counts, status.conditions ?? [], now(store)) }
      })
      return object
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
    })
  }

  /** Removes the namespace finalizer, unless the namespace was replaced; the last finalizer removes the namespace. */
  async #release (store: ResourceStore, name: string, uid: string | undefined, context: WriteContext): Promise<void> {
    await change(store, { namespace: '', name, subresource: 'finalize' }, context, current => {
      const object = current.copy()
      if (!isTerminating(object, uid)) throw notFound(store.resource, name)
      const spec = (object as ApiObject & { spec?: { finalizers?: string[] } }).spec ?? {}
      Object.assign(object, {
        spec: { ...spec, finalizers: finalizersOf(object).filter(finalizer => finalizer !== NAMESPACE_FINALIZER) }
      })
      return object
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
    })
  }
}

function tally (
  { resources, finalizers }: RemainingContents, { type: { plural }, stored: { group } }: ResourceStore,
  { metadata }: ApiObject
): void {
  count(resources, `${plural}.${group}`)
  for (const finalizer of metadata.finalizers ?? []) count(finalizers, finalizer)
}

const isTerminating = (object: ApiObject | undefined, uid: string | undefined): boolean =>
  object?.metadata.deletionTimestamp !== undefined && object.metadata.uid === uid

const finalizersOf = (object: ApiObject): string[] =>
  (object as ApiObject & { spec?: { finalizers?: string[] } }).spec?.finalizers ?? []
