/**
 * The status of quotas: what is enforced is what was asked for, and in use is what is there. Objects that go give back what they
 * used, and so does what the admission plugin charged for an object that then was not written.
 *
 * A charge stands in the quota before its object is there. So less than is charged is only written when nobody has charged
 * anything for a while; more than is charged is written at once.
 */
import type { ResourceQuota } from '../schemas/api/core/resourcequotas.js'
import { compareQuantities } from '../schemas/meta/quantity.js'
import { isStatusError } from '../schemas/status.js'
import { equal } from '../admission/amounts.js'
import type { Amounts } from '../admission/amounts.js'
import type { Entry } from '../storage/cache/entry.js'
import { systemClock } from '../storage/clock.js'
import { isStorageError } from '../storage/errors.js'
import type { WriteContext } from '../registry/operations/context.js'
import { current } from '../registry/operations/rewrite.js'
import { change } from '../registry/operations/update.js'
import { countedBy, countUsed } from '../admission/quota/count.js'
import type { Memory } from '../admission/quota/count.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { serverContext } from '../registry/operations/context.js'
import type { Controller, ControllerOptions } from './controller.js'
import { Informer } from './informer.js'
import type { Handler, ObjectName } from './informer.js'
import { WorkQueue } from './work-queue.js'
import type { Verdict } from './work-queue.js'

const WORKERS = 2
/** Milliseconds without a charge until less than is charged is believed. */
const QUIET = 1000
/** Between two looks at a quota whose objects change. */
const PAUSE = 100
/** From a change of a quota to a look at it: whoever has made one often changes it at once, and would meet us. */
const SETTLED = 250
/** Until a look at what is going, whose time may be over. */
const GOING = 30_000

interface Seen { readonly revision: number, readonly since: number }

const keyOf = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`

export class ResourceQuotas implements Controller {
  readonly #options: ControllerOptions
  readonly #queue: WorkQueue
  /** Names by namespace. */
  readonly #quotas = new Map<string, Set<string>>()
  /** When a version of a quota was first seen, by key. */
  readonly #seen = new Map<string, Seen>()
  readonly #memories = new Map<string, Memory>()
  /** Of what some quota counts, by group and plural, and of the quotas themselves. */
  readonly #informers = new Map<string, Informer>()
  #context: WriteContext | undefined
  #closed = false

  constructor (options: ControllerOptions) {
    this.#options = options
    this.#queue = new WorkQueue({
      workers: WORKERS,
      work: (key, signal) => this.#reconcile(key, this.#context ??= serverContext(signal)),
      failed: (key, error) => { if (!isStorageError(error, 'Closed')) options.log(`the use of quota ${key} could not be counted, retrying`, error) },
      name: 'resourcequota_primary',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  async start (): Promise<void> {
    const store = this.#options.resources.find('', 'resourcequotas')
    if (store === undefined) return
    await this.#follow(store, {
      changed: entry => { this.#found(entry) },
      deleted: name => { this.#forget(name) }
    })
  }

  async close (): Promise<void> {
    this.#closed = true
    for (const informer of this.#informers.values()) informer.close()
    await this.#queue.close()
  }

  get #now (): number { return (this.#options.clock ?? systemClock).elapsed() }

  /** Resolves when what is there has been told of. */
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

  #found (entry: Entry): void {
    const name = { namespace: entry.fields[1] ?? '', name: entry.name }
    this.#look(keyOf(name), entry.revision)
    const names = this.#quotas.get(name.namespace)
    if (names === undefined) this.#quotas.set(name.namespace, new Set([name.name]))
    else names.add(name.name)
    this.#queue.addAfter(keyOf(name), SETTLED)
  }

  /** @returns when this version was first seen */
  #look (key: string, revision: number): number {
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
    this.#memories.delete(keyOf(name))
  }

  /** Something has changed that quotas of the namespace may count. */
  #touch (namespace: string): void {
    for (const name of this.#quotas.get(namespace) ?? []) this.#queue.addAfter(keyOf({ namespace, name }), PAUSE)
  }

  async #reconcile (key: string, context: WriteContext): Promise<Verdict> {
    const [namespace = '', name = ''] = key.split('/')
    const { resources } = this.#options
    const store = resources.find('', 'resourcequotas')
    const entry = store === undefined ? undefined : await current(store, store.key(namespace, name))
    if (store === undefined || entry === undefined) return 'done'
    const quota = store.readStored(entry) as ResourceQuota // of the store of quotas
    const counted = countedBy(quota, resources)
    for (const one of counted) await this.#follow(one, { changed: changed => { this.#touch(changed.fields[1] ?? '') }, removed: gone => { this.#touch(gone.namespace) } })
    const memory = this.#memories.get(key) ?? new Map()
    this.#memories.set(key, memory)
    const { used, terminating } = await countUsed(quota, counted, memory)
    if (terminating) this.#queue.addAfter(key, GOING)
    const { spec: { hard = {} }, status } = quota
    const sameLimits = status.hard !== undefined && equal(hard, status.hard)
    if (sameLimits && equal(used, status.used ?? {})) return 'done'
    if (sameLimits && isLess(used, status.used ?? {})) {
      const rest = this.#look(key, entry.revision) + QUIET - this.#now
      if (rest > 0) {
        this.#queue.addAfter(key, rest)
        return 'done'
      }
    }
    return await this.#write(store, { namespace, name }, entry, { hard, used }, context)
  }

  /** Only in the place of the version that was counted for. */
  async #write (store: ResourceStore, name: ObjectName, entry: Entry, status: { hard: Amounts, used: Amounts }, context: WriteContext): Promise<Verdict> {
    try {
      await change(store, { ...name, subresource: 'status' }, context, base => {
        const quota = base.copy() as ResourceQuota // as above
        quota.metadata.resourceVersion = String(entry.revision)
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

const isLess = (used: Amounts, charged: Amounts): boolean => Object.entries(charged).some(([name, amount]) => Object.hasOwn(used, name) && compareQuantities(used[name], amount) < 0)
