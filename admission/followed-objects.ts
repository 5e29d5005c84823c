/**
 * All objects of a type of admissionregistration.orch.io, compiled when the cache reports a change: an object whose
 * version is the same is not compiled again.
 */
import type { ApiObject } from '../schemas/meta/api-object.js'
import type { Entry } from '../storage/cache/entry.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ResourceStore } from '../registry/resource-store.js'

/** Maximum age of a list without a cache. */
const MAX_AGE_MS = 1000

export interface Compilation<One, All> {
  readonly one: (object: ApiObject) => One
  /** @param ones in the order of the objects' names */
  readonly all: (ones: readonly One[]) => All
  /** Before any is known. */
  readonly none: All
}

export class FollowedObjects<One, All> {
  readonly #resources: ResourceRegistry
  readonly #plural: string
  readonly #compilation: Compilation<One, All>
  #store: ResourceStore | undefined
  #compiled = new Map<string, { readonly revision: number, readonly one: One }>()
  /** The snapshot from which `#all` was compiled. */
  #compiledFrom: unknown
  #all: All
  #listedAt = -Infinity
  #listing: Promise<All> | undefined

  constructor (resources: ResourceRegistry, plural: string, compilation: Compilation<One, All>) {
    this.#resources = resources
    this.#plural = plural
    this.#compilation = compilation
    this.#all = compilation.none
  }

  /** Starts following: writes are acknowledged once they are effective here. */
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

  /** All of them. @throws StorageError if they cannot be read */
  current (): All | Promise<All> {
    const store = this.follow()
    if (store === undefined) return this.#compilation.none
    const { cache } = store
    if (cache === undefined) return this.#listed(store)
    if (!cache.loaded) return cache.ready().then(() => this.current())
    const { map } = cache.snapshot
    if (map === this.#compiledFrom) return this.#all
    const { start, end } = store.keys.range('')
    // An object that cannot be read may enforce security, so the request fails.
    cache.refuseDamage(start, end)
    const entries: Entry[] = []
    map.forEach(start, end, entry => {
      entries.push(entry)
      return true
    })
    this.#compile(store, entries)
    this.#compiledFrom = map
    return this.#all
  }

  #listed (store: ResourceStore): All | Promise<All> {
    if (performance.now() - this.#listedAt < MAX_AGE_MS) return this.#all
    const { start, end } = store.keys.range('')
    this.#listing ??= store.backend.list({ start, end }).then(({ kvs }) => {
      this.#compile(store, kvs.map(kv => store.entries.decode(kv, kv.modRevision)))
      this.#listedAt = performance.now()
      return this.#all
    }).finally(() => { this.#listing = undefined })
    return this.#listing
  }

  #compile (store: ResourceStore, entries: readonly Entry[]): void {
    const before = this.#compiled
    this.#compiled = new Map()
    for (const entry of [...entries].sort((one, other) => one.name < other.name ? -1 : 1)) {
      const compiledBefore = before.get(entry.key)
      const compiled = compiledBefore?.revision === entry.revision
        ? compiledBefore
        : { revision: entry.revision, one: this.#compilation.one(store.entries.read(entry)) }
      this.#compiled.set(entry.key, compiled)
    }
    this.#all = this.#compilation.all([...this.#compiled.values()].map(({ one }) => one))
  }
}
