/** The resource types a server has, by group and plural. Each is added by its route while the server is put together. */
import type { ResourceDefinition } from '../schemas/index.js'
import { ResourceStore } from './resource-store.js'
import type { ResourceStoreOptions } from './resource-store.js'
import type { Strategy } from './strategy.js'
import type { Backend } from './backend.js'

export interface RegistryOptions extends Omit<ResourceStoreOptions, 'definition' | 'strategy' | 'backend' | 'windowSize'> {
  /** As `windowSize` of a store. */
  readonly windowSizeOf: (group: string, plural: string) => number
  /** The back end of a resource, `--etcd-servers-overrides`. */
  readonly backendOf: (group: string, plural: string) => Backend
}

export class ResourceRegistry {
  readonly #options: RegistryOptions
  readonly #served = new Set<ResourceStore>()
  readonly #stores = new Map<string, ResourceStore>()

  constructor (options: RegistryOptions) { this.#options = options }

  /** @throws TypeError when the type is there already */
  add (definition: ResourceDefinition, strategy: Strategy): ResourceStore {
    const name = `${definition.group}/${definition.plural}`
    if (this.#stores.has(name)) throw new TypeError(`resource ${name} is served already`)
    const { backendOf, windowSizeOf, ...rest } = this.#options
    const { group, plural } = definition
    const store = new ResourceStore({ ...rest, definition, strategy, backend: backendOf(group, plural), windowSize: windowSizeOf(group, plural) })
    this.#stores.set(name, store)
    return store
  }

  /** Marks a type as reachable; one whose version is switched off is stored and not served. */
  serve (store: ResourceStore): void { this.#served.add(store) }

  /** In the order they were added. */
  served (): ResourceStore[] { return [...this.#served] }

  find (group: string, plural: string): ResourceStore | undefined {
    return this.#stores.get(`${group}/${plural}`)
  }

  all (): ResourceStore[] { return [...this.#stores.values()] }

  /** Resolves when every cache has been loaded. */
  async open (): Promise<void> {
    await Promise.all(this.all().map(store => store.open()))
  }

  close (): void {
    for (const store of this.#stores.values()) store.close()
  }
}
