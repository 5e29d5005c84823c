/** Adds the resource types of definitions to the registry, and removes them again. */
import { customResource } from '../../schemas/custom/resource.js'
import type { CustomResourceDefinition } from '../../schemas/api/apiextensions/customresourcedefinitions.js'
import type { ResourceType } from '../../schemas/index.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { isServed } from './names.js'

interface Installed {
  readonly type: ResourceType
  /** Equal for definitions that serve the same. */
  readonly fingerprint: string
}

export class InstalledTypes {
  readonly #resources: ResourceRegistry
  /** By the name of the definition. */
  readonly #types = new Map<string, Installed>()

  constructor (resources: ResourceRegistry) { this.#resources = resources }

  /** Whether a type is that of a definition. */
  holds (type: ResourceType): boolean { return [...this.#types.values()].some(installed => installed.type === type) }

  /** The type of a definition; undefined if it is not served. */
  typeOf (name: string): ResourceType | undefined { return this.#types.get(name)?.type }

  /** Serves what a definition says now. */
  install (definition: CustomResourceDefinition): void {
    const { metadata: { name = '', uid, generation, deletionTimestamp }, spec, status } = definition
    if (!isServed(definition)) return this.remove(name)
    const fingerprint = JSON.stringify([uid, generation, deletionTimestamp === undefined, status.acceptedNames])
    if (this.#types.get(name)?.fingerprint === fingerprint) return
    const type = customResource(definition)
    this.remove(name)
    if (type === undefined || this.#resources.find(type.group, type.plural) !== undefined) return // damaged, or a built-in resource
    this.#resources.add(type)
    for (const representation of type.representations) {
      if (spec.versions?.some(({ name, served }) => served && name === representation.version) === true) this.#resources.serve(representation)
    }
    this.#types.set(name, { type, fingerprint })
  }

  remove (name: string): void {
    const installed = this.#types.get(name)
    if (installed === undefined) return
    this.#types.delete(name)
    this.#resources.remove(installed.type)
  }
}
