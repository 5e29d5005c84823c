/**
 * Maintains the status of quotas: enforced limits and actual usage. Releases the usage of deleted objects, and of
 * charged objects that were not written.
 *
 * The admission plugin charges a quota before the object exists, so a lower usage is written only after a pause without
 * charges; a higher one is written at once.
 */
import type { ResourceQuota } from '../schemas/api/core/resourcequotas.js'
import { compareQuantities } from '../schemas/meta/quantity.js'
import { isStatusError } from '../schemas/status.js'
import { equal, type Amounts } from '../admission/amounts.js'
import type { Entry } from '../storage/cache/entry.js'
import { systemClock } from '../event-loop/clock.js'
import { isStorageError } from '../storage/errors.js'
import { serverContext, type WriteContext } from '../registry/write-context.js'
import { current } from '../registry/current.js'
import { change } from '../registry/verbs/change.js'
import { countUsed, countedBy, type UsageCache } from '../admission/quota/count.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { Controller, ControllerOptions } from './controller.js'
import { Informer, type Handler, type ObjectName } from './informer.js'
import { WorkQueue, type Verdict } from './work-queue.js'

const WORKERS = 2
/** Milliseconds without a charge before a lower usage is written. */
const QUIET_MS = 1000
/** Milliseconds between two counts for a quota whose objects change. */
const PAUSE_MS = 100
/**
 * Milliseconds from a change of a quota to a count. Avoids conflicts with clients that create a quota and change it at
 * once.
 */
const SETTLE_MS = 250
/** Milliseconds until terminating objects are counted again. */
const TERMINATING_MS = 30_000

interface FirstSeen { readonly revision: number, readonly since: number }

const keyOf = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`

export class ResourceQuotas implements Controller {
  readonly #options: ControllerOptions
  readonly #queue: WorkQueue
  /** Names by namespace. */
  readonly #quotas = new Map<string, Set<string>>()
  /** When a version of a quota was first seen, by key. */
  readonly #seen = new Map<string, FirstSeen>()
  readonly #usageCaches = new Map<string, UsageCache>()
  /** Informers of quotas and counted resources, by group and plural. */
  readonly #informers = new Map<string, Informer>()
  #context: WriteContext | undefined
  #closed = false

  constructor (options: ControllerOptions) {
    this.#options = options
    this.#queue = new WorkQueue({
      workers: WORKERS,
      work: (key, signal) => this.#reconcile(key, this.#context ??= serverContext(signal)),
      failed: (key, error) => {
        if (!isStorageError(error, 'Closed')) {
          options.log(`the use of quota ${key} could not be counted, retrying`, error)
        }
      },
      name: 'resourcequota_primary',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  async start (): Promise<void> {
    const store = this.#options.resources.find('', 'resourcequotas')
    if (store === undefined) return
    await this.#follow(store, {
      changed: entry => { this.#onQuota(entry) },
      deleted: name => { this.#forget(name) }
    })
  }

  async close (): Promise<void> {
    this.#closed = true
    for (const informer of this.#informers.values()) informer.close()
    await this.#queue.close()
  }

  get #now (): number { return (this.#options.clock ?? systemClock).elapsed() }

  /** Resolves when all existing objects have been reported. */
  async #follow (store: ResourceStore, handler: Handler): Promise<void> {
    const name = `${store.type.group}/${store.type.plural}`
    if (this.#informers.has(name) || this.#closed) return
    const { log, clock } = this.#options
    const informer = new Informer({ store, log, handlers: [handler], ...(clock === undefined ? {} : { clock }) })
    this.#informers.set(name, informer)
    try {
      await informer.start()
    } catch (error) {
      informer.close()
      this.#informers.delete(name)
      throw error
    }
  }

  #onQuota (entry: Entry): void {
    const name = { namespace: entry.fields[1] ?? '', name: entry.name }
    this.#firstSeen(keyOf(name), entry.revision)
    const names = this.#quotas.get(name.namespace)
    if (names === undefined) this.#quotas.set(name.namespace, new Set([name.name]))
    else names.add(name.name)
    this.#queue.addAfter(keyOf(name), SETTLE_MS)
  }

  /** @returns when this version was first seen */
  #firstSeen (key: string, revision: number): number {
    const before = this.#seen.get(key)
    if (before?.revision === revision) return before.since
    const since = this.#now
    this.#seen.set(key, { revision, since })
    return since
  }

  #forget (name: ObjectName): void {
    const names = this.#quotas.get(name.namespace)
    names?.delete(name.name)
    if (names?.size === 0) this.#quotas.delete(name.namespace)
    this.#seen.delete(keyOf(name))
    this.#usageCaches.delete(keyOf(name))
  }

  /** Queues the quotas of a namespace after a change. */
  #enqueueNamespace (namespace: string): void {
    for (const name of this.#quotas.get(namespace) ?? []) this.#queue.addAfter(keyOf({ namespace, name }), PAUSE_MS)
  }

  async #reconcile (key: string, context: WriteContext): Promise<Verdict> {
    const [namespace = '', name = ''] = key.split('/')
    const { resources } = this.#options
    const store = resources.find('', 'resourcequotas')
    const entry = store === undefined ? undefined : await current(store, store.keys.of(namespace, name))
    if (store === undefined || entry === undefined) return 'done'
    const quota = store.entries.read(entry) as ResourceQuota // stores of quotas contain quotas
    const counted = countedBy(quota, resources)
    for (const counter of counted) {
      await this.#follow(counter, {
        changed: changed => { this.#enqueueNamespace(changed.fields[1] ?? '') },
        removed: deleted => { this.#enqueueNamespace(deleted.namespace) }
      })
    }
    const memory = this.#usageCaches.get(key) ?? new Map()
    this.#usageCaches.set(key, memory)
    const { used, terminating } = await countUsed(quota, counted, memory, resources)
    if (terminating) this.#queue.addAfter(key, TERMINATING_MS)
    const { spec: { hard = {} }, status } = quota
    const sameLimits = status.hard !== undefined && equal(hard, status.hard)
    if (sameLimits && equal(used, status.used ?? {})) return 'done'
    if (sameLimits && isLess(used, status.used ?? {})) {
      const wait = this.#firstSeen(key, entry.revision) + QUIET_MS - this.#now
      if (wait > 0) {
        this.#queue.addAfter(key, wait)
        return 'done'
      }
    }
    return await this.#write(store, entry, { hard, used }, context)
  }

  /** Writes the status only to the version that was counted. */
  async #write (
    store: ResourceStore, { namespace, name, revision }: Entry, status: { hard: Amounts, used: Amounts },
    context: WriteContext
  ): Promise<Verdict> {
    try {
      await change(store, { namespace, name, subresource: 'status' }, context, base => {
        const quota = base.copy() as ResourceQuota // as above
        quota.metadata.resourceVersion = String(revision)
        quota.status = { hard: { ...status.hard }, used: { ...status.used } }
        return quota
      })
      return 'done'
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return 'done'
      if (isStatusError(error, 'Conflict')) return 'later'
      throw error
    }
  }
}

const isLess = (used: Amounts, charged: Amounts): boolean => Object.entries(charged)
  .some(([name, amount]) => Object.hasOwn(used, name) && compareQuantities(used[name], amount) < 0)
