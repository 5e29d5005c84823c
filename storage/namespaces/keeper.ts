/**
 * What a server does for namespaces so that it serves alone: it makes the namespaces the cluster stands on,
 * gives each namespace its `default` ServiceAccount, empties one that is being deleted and then lets
 * it go. Beside a controller manager that does the same it is harmless: each step looks at what is there and
 * takes a conflict as somebody else's success.
 */
import { NO_FIELDS, NO_LABELS } from '../../schemas/index.js'
import type { ApiObject } from '../../schemas/index.js'
import { isStatusError } from '../../schemas/status.js'
import type { Feed } from '../cache/feed.js'
import { isStorageError } from '../errors.js'
import type { WriteContext } from '../operations/context.js'
import { create } from '../operations/create.js'
import { remove } from '../operations/delete.js'
import { list } from '../operations/list.js'
import { current } from '../operations/rewrite.js'
import { change } from '../operations/update.js'
import { watch } from '../operations/watch.js'
import type { ResourceRegistry } from '../registry.js'
import type { ResourceStore } from '../resource-store.js'

/** Made at start where they are missing. */
const SYSTEM_NAMESPACES = ['default', 'orch-system', 'orch-public', 'orch-node-lease']
const FINALIZER = 'orch'
const RETRY_MS = 1000
/** Something may hold an object of a namespace for long; it is looked at again, soon at first, then this often. */
const RECHECK_MS = { first: 50, most: 5000 }
const WORKERS = 8
/** The newest state of all there is. */
const EVERYTHING = { namespace: '', labels: NO_LABELS, fields: NO_FIELDS, resourceVersion: '' }

export class NamespaceKeeper {
  readonly #resources: ResourceRegistry
  readonly #log: (message: string, error: unknown) => void
  readonly #closing = new AbortController()
  readonly #queued = new Set<string>()
  readonly #waits = new Map<string, number>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #feed: Feed | undefined
  #working = false

  constructor (resources: ResourceRegistry, log: (message: string, error: unknown) => void) {
    this.#resources = resources
    this.#log = log
  }

  /** Resolves when the system namespaces are there. */
  async start (): Promise<void> {
    const store = this.#namespaces
    if (store === undefined) return
    await this.#makeSystemNamespaces(store)
    await this.#follow(store)
  }

  close (): void {
    this.#closing.abort()
    this.#feed?.close()
    for (const timer of this.#timers) clearTimeout(timer)
  }

  get #namespaces (): ResourceStore | undefined { return this.#resources.find('', 'namespaces') }

  get #context (): WriteContext {
    return { user: undefined, dryRun: false, warn: () => {}, signal: this.#closing.signal }
  }

  async #makeSystemNamespaces (store: ResourceStore): Promise<void> {
    for (const name of SYSTEM_NAMESPACES) {
      if (await current(store, store.key('', name)) !== undefined) continue
      const object = { kind: 'Namespace', apiVersion: 'v1', metadata: { name }, spec: {}, status: {} } as unknown as ApiObject // what decoding `{metadata: {name}}` gives
      await create(store, object, { namespace: '', name: '' }, this.#context).catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error
      })
    }
  }

  /** Looks at every namespace once, and again at each that changes. */
  async #follow (store: ResourceStore): Promise<void> {
    const { initial, feed } = await watch(store, EVERYTHING, {
      wake: () => { if (this.#feed !== undefined) this.#takeAll(this.#feed) },
      end: error => {
        if (error.code === 'Closed' || this.#closing.signal.aborted) return
        this.#after(RETRY_MS, () => { this.#restart(store) })
      }
    })
    if (this.#closing.signal.aborted) return feed.close()
    this.#feed = feed
    initial?.map.forEach('', '\uffff', entry => {
      this.#queue(entry.name)
      return true
    })
  }

  #restart (store: ResourceStore): void {
    this.#feed?.close()
    this.#follow(store).catch(() => { this.#after(RETRY_MS, () => { this.#restart(store) }) })
  }

  #takeAll (feed: Feed): void {
    for (;;) {
      const { events, more } = feed.take(1000)
      for (const event of events) if (event.type !== 'DELETED') this.#queue(event.entry.name)
      if (!more) return
    }
  }

  #queue (name: string): void {
    this.#queued.add(name)
    if (this.#working) return
    this.#working = true
    setImmediate(() => { void this.#work() })
  }

  async #work (): Promise<void> {
    while (this.#queued.size > 0 && !this.#closing.signal.aborted) {
      const names = [...this.#queued].slice(0, WORKERS)
      for (const name of names) this.#queued.delete(name)
      await Promise.all(names.map(name => this.#keep(name).catch((error: unknown) => {
        if (this.#closing.signal.aborted || isStorageError(error, 'Closed')) return
        this.#log(`keeping namespace ${name} failed, trying again`, error)
        this.#after(RETRY_MS, () => { this.#queue(name) })
      })))
    }
    this.#working = false
  }

  #after (ms: number, then: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      if (!this.#closing.signal.aborted) then()
    }, ms)
    timer.unref()
    this.#timers.add(timer)
  }

  async #keep (name: string): Promise<void> {
    const store = this.#namespaces
    if (store === undefined) return
    const found = await current(store, store.key('', name))
    if (found === undefined) {
      this.#waits.delete(name)
      return
    }
    if (found.object.metadata.deletionTimestamp === undefined) return await this.#giveAccount(name)
    if (!finalizersOf(found.object).includes(FINALIZER)) return
    if (await this.#empty(name)) {
      this.#waits.delete(name)
      return await this.#release(store, name)
    }
    const wait = Math.min(this.#waits.get(name) ?? RECHECK_MS.first, RECHECK_MS.most)
    this.#waits.set(name, wait * 2)
    this.#after(wait, () => { this.#queue(name) })
  }

  async #giveAccount (namespace: string): Promise<void> {
    const store = this.#resources.find('', 'serviceaccounts')
    if (store === undefined) return
    if (await current(store, store.key(namespace, 'default')) !== undefined) return
    const object: ApiObject = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default', namespace } }
    await create(store, object, { namespace, name: '' }, this.#context).catch((error: unknown) => {
      const settled = isStatusError(error, 'AlreadyExists') || isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')
      if (!settled) throw error // the last two: the namespace went meanwhile
    })
  }

  /** Deletes all that is in the namespace; true when nothing is left. */
  async #empty (namespace: string): Promise<boolean> {
    let left = 0
    for (const store of this.#resources.all()) {
      if (!store.definition.namespaced) continue
      left += await this.#emptyOf(store, namespace)
    }
    return left === 0
  }

  async #emptyOf (store: ResourceStore, namespace: string): Promise<number> {
    const { entries } = await list(store, { ...EVERYTHING, namespace, limit: 0, continue: '', resourceVersionMatch: '' })
    const queue = entries.values()
    let left = 0
    const work = async (): Promise<void> => {
      for (const entry of queue) {
        if (entry.read().metadata.deletionTimestamp !== undefined) {
          left++
          continue
        }
        const gone = await remove(store, { namespace, name: entry.name }, { preconditions: { uid: entry.read().metadata.uid } }, this.#context)
          .then(({ removed }) => removed, (error: unknown) => {
            if (isStatusError(error, 'NotFound')) return true
            if (isStatusError(error, 'Conflict')) return false
            throw error
          })
        if (!gone) left++
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work))
    return left
  }

  /** Takes our finalizer away; the namespace goes with the last of them. */
  async #release (store: ResourceStore, name: string): Promise<void> {
    await change(store, { namespace: '', name, subresource: 'finalize' }, this.#context, current => {
      const object = current.copy()
      const spec = (object as ApiObject & { spec?: { finalizers?: string[] } }).spec ?? {}
      Object.assign(object, { spec: { ...spec, finalizers: finalizersOf(object).filter(finalizer => finalizer !== FINALIZER) } })
      return object
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
    })
  }
}

const finalizersOf = (object: ApiObject): string[] => (object as ApiObject & { spec?: { finalizers?: string[] } }).spec?.finalizers ?? []
