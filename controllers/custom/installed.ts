/** Adds the resource types of definitions to the registry, and removes them again. */
import { setMaxListeners } from 'node:events'
import { customResources } from '../../schemas/custom/resource.js'
import type { RuleObserver } from '../../schemas/custom/rules.js'
import type { CustomResourceDefinition } from '../../schemas/api/apiextensions/customresourcedefinitions.js'
import { DEFAULT_GATES, type Gates } from '../../schemas/gates.js'
import { toJson } from '../../schemas/codec/json/encode.js'
import { parseExactly } from '../../schemas/codec/json/exact.js'
import { UNBOUNDED } from '../../schemas/codec/json/parse.js'
import { decode } from '../../schemas/language/decode.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { applyDefaults } from '../../schemas/language/defaults.js'
import type { ResourceType } from '../../schemas/resource.js'
import type { HookCaller } from '../../admission/webhooks/target.js'
import type { ResourceRegistry, WebhookVersions } from '../../registry/resource-registry.js'
import type { Siblings } from '../../registry/resource-store.js'
import { webhookConversion, type PlainObject } from './conversion.js'
import { convertingBackend } from './converting-backend.js'
import { isServed } from './names.js'

interface Installed {
  /** The type of the storage version. */
  readonly type: ResourceType
  /** Equal for definitions that serve the same. */
  readonly fingerprint: string
  readonly remove: () => void
}

/** With the defaults of the version in which it is stored, as upstream; what is damaged is left to the webhook. */
function completed (object: PlainObject, { representations }: Siblings, gates: Gates): PlainObject {
  const stored = representations.find(({ apiVersion }) => apiVersion === object.apiVersion)
  if (stored === undefined) return object
  try {
    const { object: decoded } = decode(stored.message, object, UNBOUNDED)
    applyDefaults(stored.message, decoded, gates)
    return parseExactly(Buffer.from(toJson(stored.message, decoded))) as PlainObject // of an object
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return object
  }
}

export class InstalledTypes {
  readonly #resources: ResourceRegistry
  readonly #caller: HookCaller
  readonly #gates: Gates
  readonly #observer: RuleObserver | undefined
  readonly #closing = new AbortController()
  /** By the name of the definition. */
  readonly #types = new Map<string, Installed>()

  /** @param caller of conversion webhooks */
  constructor (resources: ResourceRegistry, caller: HookCaller, gates = DEFAULT_GATES, observer?: RuleObserver) {
    this.#resources = resources
    this.#caller = caller
    this.#gates = gates
    this.#observer = observer
    setMaxListeners(0, this.#closing.signal) // each conversion listens
  }

  /** Whether a type is that of a definition. */
  holds (type: ResourceType): boolean { return [...this.#types.values()].some(installed => installed.type === type) }

  /** The type of a definition; undefined if it is not served. */
  typeOf (name: string): ResourceType | undefined { return this.#types.get(name)?.type }

  /** Serves the type as the definition now declares it. */
  install (definition: CustomResourceDefinition): void {
    const { metadata: { name = '', uid, generation, deletionTimestamp }, status: { acceptedNames, storedVersions } } =
      definition
    if (!isServed(definition)) return this.remove(name)
    const fingerprint = JSON.stringify([
      uid, generation, deletionTimestamp === undefined, acceptedNames, storedVersions
    ])
    if (this.#types.get(name)?.fingerprint === fingerprint) return
    const [type, ...converted] = customResources(definition, this.#gates, this.#observer)
    this.remove(name)
    // damaged, or a built-in resource
    if (type === undefined || this.#resources.find(type.group, type.plural) !== undefined) return
    const removals = this.#serve(definition, type, converted)
    this.#types.set(name, { type, fingerprint, remove: () => { for (const remove of removals) remove() } })
  }

  remove (name: string): void {
    const installed = this.#types.get(name)
    this.#types.delete(name)
    installed?.remove()
  }

  /** Aborts active conversions. */
  close (): void { this.#closing.abort() }

  #serve (
    definition: CustomResourceDefinition, type: ResourceType, converted: readonly ResourceType[]
  ): Array<() => void> {
    const { spec: { versions = [] }, status: { storedVersions = [] } } = definition
    const isOn = (version: string): boolean => versions.some(({ name, served }) => served && name === version)
    if (converted.length === 0) {
      this.#resources.add(type)
      for (const representation of type.representations) {
        if (isOn(representation.version)) this.#resources.serve(representation)
      }
      return [() => { this.#resources.remove(type) }]
    }
    const convert = webhookConversion(definition, this.#caller, this.#closing.signal)
    const siblings: Siblings = {
      representations: [type, ...converted].map(resource => resource.stored),
      convert: (objects, apiVersion) => convert(objects as readonly PlainObject[], apiVersion) // JSON of whole objects
    }
    const versionsFor = (served: string): Required<WebhookVersions> => ({
      siblings,
      wrapBackend: backend =>
        convertingBackend(backend, convert, { served, stored: type.stored.apiVersion }, object =>
          completed(object, siblings, this.#gates))
    })
    // Objects that may be stored in another version have to be converted, so they are not cached.
    const mixed = storedVersions.some(version => version !== type.stored.version)
    this.#resources.add(type, mixed ? versionsFor(type.stored.apiVersion) : { siblings })
    if (isOn(type.stored.version)) this.#resources.serve(type.stored)
    const others = converted.filter(({ stored }) => isOn(stored.version))
      .map(other => this.#resources.serveConvertedVersion(other, versionsFor(other.stored.apiVersion)))
    return [() => { this.#resources.remove(type) }, ...others]
  }
}
