/** Names in use in each group: accepted names of definitions, and those of all other resources. */
import type {
  CustomResourceDefinitionNames as Names
} from '../../schemas/api/apiextensions/customresourcedefinitions.js'
import type { ResourceType } from '../../schemas/resource.js'
import type { UsedNames } from './names.js'

interface DefinitionNames {
  readonly group: string
  readonly names: Names | undefined
  /** Another type holds some names of the definition. */
  readonly waiting: boolean
}

/** Names with the number of their holders. */
class Holders {
  readonly #counts = new Map<string, number>()

  get size (): number { return this.#counts.size }

  has (name: string): boolean { return this.#counts.has(name) }

  add (names: readonly string[], by: 1 | -1): void {
    for (const name of names) {
      const count = (this.#counts.get(name) ?? 0) + by
      if (count === 0) this.#counts.delete(name)
      else this.#counts.set(name, count)
    }
  }
}

class Group {
  readonly definitions = new Map<string, DefinitionNames>()
  readonly resources = new Holders()
  readonly kinds = new Holders()

  add ({ plural, singular = '', shortNames = [], kind, listKind = '' }: Names, by: 1 | -1): void {
    this.resources.add([plural, singular, ...shortNames], by)
    this.kinds.add([kind, listKind], by)
  }
}

export class NameIndex {
  readonly #groups = new Map<string, Group>()
  readonly #groupOf = new Map<string, string>()

  /** @param others resources without a definition */
  constructor (others: readonly ResourceType[]) {
    for (const { group, plural, representations } of others) {
      for (const { kind, listKind } of representations) this.#group(group).add({ plural, kind, listKind }, 1)
    }
  }

  set (name: string, known: DefinitionNames): void {
    this.delete(name)
    const group = this.#group(known.group)
    group.definitions.set(name, known)
    if (known.names !== undefined) group.add(known.names, 1)
    this.#groupOf.set(name, known.group)
  }

  /** @returns the group of the definition */
  delete (name: string): string | undefined {
    const groupName = this.#groupOf.get(name)
    if (groupName === undefined) return undefined
    const group = this.#group(groupName)
    const { names } = group.definitions.get(name) ?? {}
    if (names !== undefined) group.add(names, -1)
    group.definitions.delete(name)
    this.#groupOf.delete(name)
    if (group.definitions.size === 0 && group.resources.size === 0) this.#groups.delete(groupName)
    return groupName
  }

  /** Definitions of a group that wait for names. */
  waiting (group: string): string[] {
    return [...this.#group(group).definitions].filter(([, { waiting }]) => waiting).map(([name]) => name)
  }

  used (group: string): UsedNames { return this.#group(group) }

  #group (name: string): Group {
    let group = this.#groups.get(name)
    if (group === undefined) this.#groups.set(name, group = new Group())
    return group
  }
}
