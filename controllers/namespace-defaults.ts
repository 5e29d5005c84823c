/**
 * Maintains the defaults of each namespace that is not terminating: its `default` ServiceAccount and the server's CA
 * bundle in a ConfigMap. Recreates them after deletions and changes.
 */
import type { ApiObject } from '../schemas/meta/api-object.js'
import { isStatusError } from '../schemas/status.js'
import { systemClock } from '../event-loop/clock.js'
import { isStorageError } from '../storage/errors.js'
import { serverContext, type WriteContext } from '../registry/write-context.js'
import { create } from '../registry/verbs/create.js'
import { current } from '../registry/current.js'
import { change } from '../registry/verbs/change.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { objectExists, type ControllerOptions, type Controller } from './controller.js'
import { Informer, type Handler } from './informer.js'
import { desiredRootCA, ROOT_CA, type RootCA, type ConfigMap } from './root-ca.js'
import { WorkQueue, type Verdict } from './work-queue.js'

const WORKERS = 8
const ACCOUNT = 'default'
/**
 * Milliseconds between corrections of a namespace's bundle, because servers with different bundles would alternate
 * forever.
 */
const MIN_UPDATE_INTERVAL_MS = 60_000

export interface NamespaceDefaultsOptions extends ControllerOptions {
  /** Default none: no ConfigMap is created. */
  readonly rootCA?: RootCA | undefined
}

export class NamespaceDefaults implements Controller {
  readonly #options: NamespaceDefaultsOptions
  readonly #queue: WorkQueue
  /** When a namespace's bundle was last corrected. */
  readonly #bundleChangedAt = new Map<string, number>()
  #context: WriteContext | undefined
  #informers: Informer[] = []

  constructor (options: NamespaceDefaultsOptions) {
    this.#options = options
    this.#queue = new WorkQueue({
      workers: WORKERS,
      work: (name, signal) => this.#reconcile(name, this.#context ??= serverContext(signal)),
      failed: (name, error) => {
        if (!isStorageError(error, 'Closed')) {
          options.log(`giving namespace ${name} what it should have failed, retrying`, error)
        }
      },
      name: 'namespace_defaults',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  /** Resolves when every existing namespace has been queued. */
  async start (): Promise<void> {
    const { resources, log, clock, rootCA } = this.#options
    for (const informer of this.#informers.splice(0)) informer.close()
    const follow = async (plural: string, handler: Handler): Promise<void> => {
      const store = resources.find('', plural)
      if (store === undefined) return
      const informer = new Informer({ store, log, handlers: [handler], ...(clock === undefined ? {} : { clock }) })
      this.#informers.push(informer)
      await informer.start()
    }
    const namespaces = resources.find('', 'namespaces')
    await follow('namespaces', { changed: ({ name }) => { this.#queue.add(name) } })
    // Deletions during a gap are found by checking every namespace.
    const relisted = (): void => {
      const { cache } = namespaces ?? {}
      const { start, end } = namespaces?.keys.range('') ?? { start: '', end: '' }
      cache?.snapshot.map.forEach(start, end, ({ name }) => {
        this.#queue.add(name)
        return true
      })
    }
    await follow('serviceaccounts', {
      changed: () => {}, relisted,
      removed: ({ namespace, name }) => { if (name === ACCOUNT) this.#queue.add(namespace) }
    })
    if (rootCA === undefined) return
    const enqueueIfBundle = ({ namespace, name }: { namespace: string, name: string }): void => {
      if (name === ROOT_CA) this.#queue.add(namespace)
    }
    await follow('configmaps', {
      changed: ({ name, fields }) => { enqueueIfBundle({ name, namespace: fields[1] ?? '' }) }, relisted,
      removed: enqueueIfBundle
    })
  }

  async close (): Promise<void> {
    for (const informer of this.#informers) informer.close()
    await this.#queue.close()
  }

  async #reconcile (namespace: string, context: WriteContext): Promise<Verdict> {
    const { resources, rootCA } = this.#options
    const store = resources.find('', 'namespaces')
    const entry = store === undefined ? undefined : await current(store, store.keys.of('', namespace))
    if (entry === undefined || entry.object.metadata.deletionTimestamp !== undefined) {
      this.#bundleChangedAt.delete(namespace)
      return 'done'
    }
    const accounts = resources.find('', 'serviceaccounts')
    if (accounts !== undefined && !await objectExists(accounts, accounts.keys.of(namespace, ACCOUNT))) {
      await this.#createIfMissing(
        accounts, { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: ACCOUNT, namespace } }, context
      )
    }
    const configMaps = resources.find('', 'configmaps')
    return rootCA === undefined || configMaps === undefined
      ? 'done'
      : await this.#publish(configMaps, rootCA, namespace, context)
  }

  async #publish (store: ResourceStore, rootCA: RootCA, namespace: string, context: WriteContext): Promise<Verdict> {
    const entry = await current(store, store.keys.of(namespace, ROOT_CA))
    const desired = desiredRootCA(rootCA, entry?.object, store.clock.wall())
    if (desired === undefined) return 'done'
    if (entry === undefined) {
      await this.#createIfMissing(
        store,
        { kind: 'ConfigMap', apiVersion: 'v1', ...desired, metadata: { ...desired.metadata, namespace } } as ApiObject,
        context
      )
      return 'done'
    }
    if (entry.object.metadata.deletionTimestamp !== undefined) return 'done'
    const now = (this.#options.clock ?? systemClock).elapsed()
    const last = this.#bundleChangedAt.get(namespace)
    if (last !== undefined && now - last < MIN_UPDATE_INTERVAL_MS) return 'later'
    this.#bundleChangedAt.set(namespace, now)
    await change(store, { namespace, name: ROOT_CA }, context, base => {
      const object = base.copy() as ConfigMap // stores of configmaps contain config maps
      const { binaryData, ...rest } = object
      return { ...rest, ...desiredRootCA(rootCA, object, store.clock.wall()) }
    }).catch((error: unknown) => {
      // Marked immutable by a user, or deleted.
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Invalid')) throw error
    })
    return 'done'
  }

  async #createIfMissing (store: ResourceStore, object: ApiObject, context: WriteContext): Promise<void> {
    await create(store, object, { namespace: object.metadata.namespace ?? '', name: '' }, context)
      .catch((error: unknown) => {
        const settled = isStatusError(error, 'AlreadyExists') || isStatusError(error, 'NotFound') ||
        isStatusError(error, 'Forbidden')
        if (!settled) throw error // NotFound, Forbidden: the namespace was deleted meanwhile
      })
  }
}
