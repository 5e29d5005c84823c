/** The webhook configurations, compiled when the cache reports a change. */
import type { MutatingWebhookConfiguration } from '../../schemas/api/admissionregistration/webhooks.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { hooksOf, type Hook } from './hook.js'
import { HookSet } from './hook-set.js'

/** Maximum age of a list without a cache. */
const MAX_AGE_MS = 1000
const EMPTY = new HookSet([])

export class Configurations {
  readonly #resources: ResourceRegistry
  readonly #plural: string
  readonly #onChange: (hooks: readonly Hook[]) => void
  #store: ResourceStore | undefined
  #compiled = new Map<string, { readonly revision: number, readonly hooks: readonly Hook[] }>()
  /** The snapshot from which `#set` was compiled. */
  #compiledFrom: unknown
  #set = EMPTY
  #listedAt = -Infinity
  #listing: Promise<HookSet> | undefined

  /** @param onChange receives all hooks after each change */
  constructor (resources: ResourceRegistry, plural: string, onChange: (hooks: readonly Hook[]) => void) {
    this.#resources = resources
    this.#plural = plural
    this.#onChange = onChange
  }

  /** Starts following: writes to configurations are acknowledged once they are effective here. */
  follow (): ResourceStore | undefined {
    if (this.#store !== undefined) return this.#store
    const store = this.#store = this.#resources.find('admissionregistration.orch.io', this.#plural)
    store?.onCommitted(async revision => {
      this.#listedAt = -Infinity
      // The write is durable regardless of this wait.
      await store.cache?.reach(revision).catch(() => {})
    })
    return store
  }

  /** All hooks, ordered by the names of their configurations. @throws StorageError if they cannot be read */
  current (): HookSet | Promise<HookSet> {
    const store = this.follow()
    if (store === undefined) return EMPTY
    const { cache } = store
    if (cache === undefined) return this.#listed(store)
    if (!cache.loaded) return cache.ready().then(() => this.current())
    const { map } = cache.snapshot
    if (map === this.#compiledFrom) return this.#set
    const { start, end } = store.keys.range('')
    // Fail on unreadable configurations: they may enforce security.
    cache.refuseDamage(start, end)
    const entries: Entry[] = []
    map.forEach(start, end, entry => {
      entries.push(entry)
      return true
    })
    this.#compile(store, entries)
    this.#compiledFrom = map
    return this.#set
  }

  #listed (store: ResourceStore): HookSet | Promise<HookSet> {
    if (performance.now() - this.#listedAt < MAX_AGE_MS) return this.#set
    const { start, end } = store.keys.range('')
    this.#listing ??= store.backend.list({ start, end }).then(({ kvs }) => {
      this.#compile(store, kvs.map(kv => store.entries.decode(kv, kv.modRevision)))
      this.#listedAt = performance.now()
      return this.#set
    }).finally(() => { this.#listing = undefined })
    return this.#listing
  }

  #compile (store: ResourceStore, entries: readonly Entry[]): void {
    const before = this.#compiled
    this.#compiled = new Map()
    for (const entry of [...entries].sort((one, other) => one.name < other.name ? -1 : 1)) {
      const known = before.get(entry.key)
      // Both kinds share the fields that are read here.
      const made = known?.revision === entry.revision
        ? known
        : { revision: entry.revision, hooks: hooksOf(store.readStored(entry) as MutatingWebhookConfiguration) }
      this.#compiled.set(entry.key, made)
    }
    const hooks = [...this.#compiled.values()].flatMap(({ hooks }) => hooks)
    this.#set = hooks.length === 0 ? EMPTY : new HookSet(hooks)
    this.#onChange(hooks)
  }
}
