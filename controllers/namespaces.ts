/**
 * What a server does for namespaces so that it serves alone: it empties one that is being deleted and then lets it go. See
 * `namespace-defaults.ts` for what it gives the others. Beside a controller manager that does the same it is harmless: each step looks at
 * what is there and takes a conflict as somebody else's success.
 */
import { NO_FIELDS, NO_LABELS } from '../schemas/index.js'
import type { ApiObject } from '../schemas/index.js'
import { NAMESPACE_FINALIZER, ORPHAN_FINALIZER } from '../schemas/meta/metadata-rules.js'
import { isStatusError, notFound } from '../schemas/status.js'
import { isStorageError } from '../storage/errors.js'
import type { WriteContext } from '../registry/operations/context.js'
import { remove } from '../registry/operations/delete.js'
import { list } from '../registry/operations/list.js'
import { current, removable } from '../registry/operations/rewrite.js'
import { change } from '../registry/operations/update.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { serverContext } from '../registry/operations/context.js'
import type { Controller, ControllerOptions } from './controller.js'
import { Informer } from './informer.js'
import { conditionsOf, count } from './namespace-conditions.js'
import type { Condition, Left } from './namespace-conditions.js'
import { WorkQueue } from './work-queue.js'
import type { Verdict } from './work-queue.js'

/** Namespaces, and objects of one of them, at a time. */
const WORKERS = 8
/** The newest state of all there is. */
const EVERYTHING = { labels: NO_LABELS, fields: NO_FIELDS, resourceVersion: '', limit: 0, continue: '', resourceVersionMatch: '' }

export class NamespaceController implements Controller {
  readonly #resources: ResourceRegistry
  readonly #options: ControllerOptions
  readonly #queue: WorkQueue
  #context: WriteContext | undefined
  #informer: Informer | undefined

  constructor (options: ControllerOptions) {
    this.#options = options
    this.#resources = options.resources
    this.#queue = new WorkQueue({
      workers: WORKERS,
      work: (name, signal) => this.#reconcile(name, this.#context ??= serverContext(signal)),
      failed: (name, error) => {
        if (!isStorageError(error, 'Closed')) options.log(`reconciling namespace ${name} failed, retrying`, error)
      },
      name: 'namespace',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  /** Resolves when every namespace there is was added to those to look at. */
  async start (): Promise<void> {
    const { log, clock } = this.#options
    const store = this.#namespaces
    if (store === undefined) return
    this.#informer?.close()
    this.#informer = new Informer({ store, log, handlers: [{ changed: ({ name }) => { this.#queue.add(name) } }], ...(clock === undefined ? {} : { clock }) })
    await this.#informer.start()
  }

  async close (): Promise<void> {
    this.#informer?.close()
    await this.#queue.close()
  }

  get #namespaces (): ResourceStore | undefined { return this.#resources.find('', 'namespaces') }

  /** The next step for a namespace. */
  async #reconcile (name: string, context: WriteContext): Promise<Verdict> {
    const store = this.#namespaces
    const found = store === undefined ? undefined : await current(store, store.key('', name))
    if (store === undefined || found === undefined) return 'done'
    if (found.object.metadata.deletionTimestamp === undefined) return 'done'
    if (!finalizersOf(found.object).includes(NAMESPACE_FINALIZER)) return 'done'
    const { uid } = found.object.metadata
    const remains: Left = { resources: new Map(), finalizers: new Map() }
    const { seen, left } = await this.#empty(name, context, remains, async () => isTerminating((await current(store, store.key('', name)))?.object, uid))
    // What is left is held by somebody, for as long as it takes.
    if (left > 0) {
      await this.#writeConditions(store, name, uid, remains, context)
      return 'later'
    }
    // Only a look that finds nothing is the last one: it comes after the mark, behind which nothing is created.
    if (seen > 0) return 'again'
    await this.#release(store, name, uid, context)
    return 'done'
  }

  /** Deletes all that is in the namespace, and lets nothing wait for dependents to be orphaned, which go as well: how many there were, how many are left. `going` says whether it still is that namespace. */
  async #empty (namespace: string, context: WriteContext, remains: Left, going: () => Promise<boolean>): Promise<Emptied> {
    let seen = 0
    let left = 0
    for (const store of this.#resources.all()) {
      if (!store.type.namespaced) continue
      const emptied = await this.#emptyOf(store, namespace, context, remains, going)
      seen += emptied.seen
      left += emptied.left
    }
    return { seen, left }
  }

  async #emptyOf (store: ResourceStore, namespace: string, context: WriteContext, remains: Left, going: () => Promise<boolean>): Promise<Emptied> {
    const { entries } = await list(store, { ...EVERYTHING, namespace })
    const seen = entries.length
    if (seen === 0) return { seen, left: 0 }
    // Another server may have let it go, and the next of its name be there already: what was found may be in that one.
    if (!await going()) return { seen, left: seen }
    const queue = entries.values()
    let left = 0
    const work = async (): Promise<void> => {
      for (const entry of queue) {
        const object = entry.read()
        const { uid, deletionTimestamp, finalizers = [] } = object.metadata
        // One that nothing holds was left by a server that stopped between marking and removing it.
        if (deletionTimestamp !== undefined && !finalizers.includes(ORPHAN_FINALIZER) && !removable(store, object)) {
          left++
          tally(remains, store, object)
          continue
        }
        const gone = await remove(store, { namespace, name: entry.name }, { preconditions: { uid }, propagationPolicy: 'Background' }, context)
          .then(({ entry: marked, removed }) => {
            if (!removed) tally(remains, store, marked.read())
            return removed
          }, (error: unknown) => {
            if (isStatusError(error, 'NotFound')) return true
            if (isStatusError(error, 'Conflict')) return false
            throw error
          })
        if (!gone) left++
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work))
    return { seen, left }
  }

  /** Says in the status what is left. */
  async #writeConditions (store: ResourceStore, name: string, uid: string | undefined, remains: Left, context: WriteContext): Promise<void> {
    await change(store, { namespace: '', name, subresource: 'status' }, context, current => {
      const object = current.copy()
      if (!isTerminating(object, uid)) throw notFound(store.resource, name)
      const { status = {} } = object as ApiObject & { status?: { conditions?: Condition[] } }
      Object.assign(object, { status: { ...status, conditions: conditionsOf(remains, status.conditions ?? []) } })
      return object
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
    })
  }

  /** Takes our finalizer away; the namespace goes with the last of them. Not that of another that has its name by now. */
  async #release (store: ResourceStore, name: string, uid: string | undefined, context: WriteContext): Promise<void> {
    await change(store, { namespace: '', name, subresource: 'finalize' }, context, current => {
      const object = current.copy()
      if (!isTerminating(object, uid)) throw notFound(store.resource, name)
      const spec = (object as ApiObject & { spec?: { finalizers?: string[] } }).spec ?? {}
      Object.assign(object, { spec: { ...spec, finalizers: finalizersOf(object).filter(finalizer => finalizer !== NAMESPACE_FINALIZER) } })
      return object
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
    })
  }
}

function tally ({ resources, finalizers }: Left, { type: { plural }, stored: { group } }: ResourceStore, { metadata }: ApiObject): void {
  count(resources, `${plural}.${group}`)
  for (const finalizer of metadata.finalizers ?? []) count(finalizers, finalizer)
}

interface Emptied { readonly seen: number, readonly left: number }

const isTerminating = (object: ApiObject | undefined, uid: string | undefined): boolean => object?.metadata.deletionTimestamp !== undefined && object.metadata.uid === uid

const finalizersOf = (object: ApiObject): string[] => (object as ApiObject & { spec?: { finalizers?: string[] } }).spec?.finalizers ?? []
