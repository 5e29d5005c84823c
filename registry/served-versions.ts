/**
 * The served stores by group version, in discovery order. A change makes another array of its own version alone, so
 * that documents are made again for that version, and the order of all the others is known.
 */
import { apiVersionOf, compareGroups, compareVersions } from '../schemas/groups.js'
import type { ResourceStore } from './resource-store.js'

export interface ServedVersion {
  readonly group: string
  readonly version: string
  /** Another array when one of them changes. */
  readonly stores: readonly ResourceStore[]
}

export class ServedVersions {
  readonly #byName = new Map<string, ServedVersion>()
  #inOrder: readonly ServedVersion[] | undefined
  #stores: readonly ResourceStore[] | undefined

  add (store: ResourceStore): void {
    const { group, version } = store.representation
    this.#set({ group, version, stores: [...this.of(group, version), store] })
  }

  delete (store: ResourceStore): void {
    const { group, version } = store.representation
    this.#set({ group, version, stores: this.of(group, version).filter(other => other !== store) })
  }

  /** Those of a version; none if it is not served. */
  of (group: string, version: string): readonly ResourceStore[] {
    return this.#byName.get(apiVersionOf(group, version))?.stores ?? NONE
  }

  inOrder (): readonly ServedVersion[] {
    this.#inOrder ??= [...this.#byName.values()].sort((one, other) =>
      compareGroups(one.group, other.group) || compareVersions(one.group, one.version, other.version))
    return this.#inOrder
  }

  stores (): readonly ResourceStore[] {
    this.#stores ??= this.inOrder().flatMap(({ stores }) => stores)
    return this.#stores
  }

  #set (served: ServedVersion): void {
    const name = apiVersionOf(served.group, served.version)
    if (served.stores.length === 0) this.#byName.delete(name)
    else this.#byName.set(name, served)
    this.#inOrder = this.#stores = undefined
  }
}

const NONE: readonly ResourceStore[] = []
