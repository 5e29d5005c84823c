/** The webhook configurations there are, compiled when they change: as soon as the cache has a change, on every server. */
import type { MutatingWebhookConfiguration } from '../../schemas/api/admissionregistration/webhooks.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { Hook } from './hook.js'
import { hooksOf } from './hook.js'
import { HookSet } from './hook-set.js'

/** How old a list may be where nothing is cached. */
const MOST_AGE_MS = 1000
const NOTHING = new HookSet([])

export class Configurations {
  readonly #resources: () => ResourceRegistry
  readonly #plural: string
  readonly #changed: (hooks: readonly Hook[]) => void
  #store: ResourceStore | undefined
  #compiled = new Map<string, { readonly revision: number, readonly hooks: readonly Hook[] }>()
  /** The state of the cache that `#set` is made of. */
  #of: unknown
  #set = NOTHING
  #listedAt = -Infinity
  #listing: Promise<HookSet> | undefined

  /** @param changed told of all hooks when they are others than before */
  constructor (resources: () => ResourceRegistry, plural: string, changed: (hooks: readonly Hook[]) => void) {
    this.#resources = resources
    this.#plural = plural
    this.#changed = changed
  }

  /** From now on a configuration that is written through this server is acknowledged when it holds here. */
  follow (): ResourceStore | undefined {
    if (this.#store !== undefined) return this.#store
    const store = this.#store = this.#resources().find('admissionregistration.orch.io', this.#plural)
    store?.onCommitted(async revision => {
      this.#listedAt = -Infinity
      // It is stored, whatever comes of this.
      await store.cache?.reach(revision).catch(() => {})
    })
    return store
  }

  /** All hooks, in order of the names of their configurations. @throws StorageError when they cannot be known */
  current (): HookSet | Promise<HookSet> {
    const store = this.follow()
    if (store === undefined) return NOTHING
    const { cache } = store
    if (cache === undefined) return this.#listed(store)
    if (!cache.loaded) return cache.ready().then(() => this.current())
    const { map } = cache.snapshot
    if (map === this.#of) return this.#set
    const { start, end } = store.range('')
    // What cannot be read may be what is to keep something out.
    cache.refuseDamage(start, end)
    const entries: Entry[] = []
    map.forEach(start, end, entry => {
      entries.push(entry)
      return true
    })
    this.#compile(store, entries)
    this.#of = map
    return this.#set
  }

  #listed (store: ResourceStore): HookSet | Promise<HookSet> {
    if (performance.now() - this.#listedAt < MOST_AGE_MS) return this.#set
    const { start, end } = store.range('')
    this.#listing ??= store.backend.list({ start, end }).then(({ kvs }) => {
      this.#compile(store, kvs.map(kv => store.decode(kv, kv.modRevision)))
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
      // Both kinds have what is read of them here.
      const made = known?.revision === entry.revision ? known : { revision: entry.revision, hooks: hooksOf(store.readStored(entry) as MutatingWebhookConfiguration) }
      this.#compiled.set(entry.key, made)
    }
    const hooks = [...this.#compiled.values()].flatMap(({ hooks }) => hooks)
    this.#set = hooks.length === 0 ? NOTHING : new HookSet(hooks)
    this.#changed(hooks)
  }
}
