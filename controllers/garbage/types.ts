/**
 * The types whose objects may own others, and those among them whose objects are followed. Types come and go with
 * definitions and APIServices.
 */
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { CollectedType } from './collected-type.js'
import { RemoteType, type RemoteResource } from './remote-type.js'
import type { Requests } from './requests.js'
import { StoredType } from './stored-type.js'

/** A group version of an extension server. */
export interface RemoteVersion {
  readonly apiVersion: string
  readonly resources: readonly RemoteResource[]
  /** Whether the server has answered lately. */
  readonly isFresh: boolean
}

/** Group versions of extension servers, those of a group in their order of preference. */
export type Discover = () => Promise<readonly RemoteVersion[]>

const NEEDED = ['delete', 'list', 'watch']

interface Known { readonly type: CollectedType, readonly isFollowed: boolean, readonly fingerprint: string }

export class Types {
  readonly #resources: ResourceRegistry
  readonly #requests: Requests
  #own: { readonly generation: number, readonly known: ReadonlyMap<string, KnownStore> } | undefined
  #remote: ReadonlyMap<string, Known> = new Map()
  #versions = new Map<string, RemoteVersion>()
  #byKind = new Map<string, CollectedType>()

  constructor (resources: ResourceRegistry, requests: Requests) {
    this.#resources = resources
    this.#requests = requests
  }

  /** Undefined if the kind is unknown: nobody can say whether such an owner exists. */
  resolve (apiVersion: string, kind: string): CollectedType | undefined {
    this.#readOwn()
    return this.#byKind.get(`${apiVersion} ${kind}`)
  }

  /** Types whose objects can be deleted, listed and watched, but events, which expire by themselves. */
  followed (): ReadonlySet<CollectedType> {
    const own = [...this.#readOwn().values()].filter(({ isFollowed }) => isFollowed).map(({ type }) => type)
    const remote = [...this.#remote.values()].filter(({ isFollowed }) => isFollowed).map(({ type }) => type)
    return new Set<CollectedType>([...own, ...remote])
  }

  /** Takes what extension servers serve. What one that does not answer has served before, it is taken to serve. */
  setRemote (versions: readonly RemoteVersion[]): void {
    const kept = new Map(versions.map(version => {
      const before = this.#versions.get(version.apiVersion)
      const isUnknown = !version.isFresh && version.resources.length === 0
      return [version.apiVersion, isUnknown && before !== undefined ? before : version]
    }))
    this.#versions = kept
    const byResource = new Map<string, { apiVersions: [string, ...string[]], resource: RemoteResource }>()
    for (const { apiVersion, resources } of kept.values()) {
      for (const resource of resources) {
        const name = `${apiVersion.split('/')[0] ?? ''}/${resource.plural}`
        const listed = byResource.get(name)
        if (listed === undefined) byResource.set(name, { apiVersions: [apiVersion], resource })
        else listed.apiVersions.push(apiVersion)
      }
    }
    this.#remote = new Map([...byResource].map(([name, { apiVersions, resource }]) => {
      const fingerprint = JSON.stringify([apiVersions, resource])
      const before = this.#remote.get(name)
      if (before?.fingerprint === fingerprint) return [name, before]
      const type = new RemoteType(apiVersions, resource, this.#requests)
      return [name, { type, isFollowed: hasVerbs(resource.verbs), fingerprint }]
    }))
    this.#index()
  }

  #readOwn (): ReadonlyMap<string, KnownStore> {
    const { generation } = this.#resources
    if (this.#own?.generation === generation) return this.#own.known
    const stores = new Map<string, [ResourceStore, ...ResourceStore[]]>()
    for (const store of this.#resources.served()) {
      if (store.type.virtual) continue
      const scope = store.keys.scope('')
      const sameScope = stores.get(scope)
      if (sameScope === undefined) stores.set(scope, [store])
      else sameScope.push(store)
    }
    const known = new Map([...stores].map(([scope, served]) => {
      const before = this.#own?.known.get(scope)
      return [scope, before !== undefined && same(before.served, served) ? before : knownStore(served)]
    }))
    this.#own = { generation, known }
    this.#index()
    return known
  }

  #index (): void {
    this.#byKind = new Map()
    for (const { type } of [...this.#remote.values(), ...this.#own?.known.values() ?? []]) {
      for (const { apiVersion, kind } of type.kinds) this.#byKind.set(`${apiVersion} ${kind}`, type)
    }
  }
}

interface KnownStore {
  readonly served: readonly ResourceStore[]
  readonly type: StoredType
  readonly isFollowed: boolean
}

const knownStore = (served: readonly [ResourceStore, ...ResourceStore[]]): KnownStore => ({
  served, type: new StoredType(served), isFollowed: served[0].type.ttlSeconds === undefined &&
    hasVerbs(served[0].representation.verbs)
})

const hasVerbs = (verbs: readonly string[]): boolean => NEEDED.every(verb => verbs.includes(verb))

const same = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((item, at) => item === other[at])
