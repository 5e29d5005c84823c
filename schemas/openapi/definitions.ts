/** OpenAPI definitions of declared types. References are written for a document whose definitions stand below `prefix`. */
import type { Field, Message, Plain, ScalarName } from '../declare.js'
import { ListMeta } from '../meta/object.js'
import { planOf } from '../plan.js'
import type { PlannedField } from '../plan.js'
import type { ResourceDefinition } from '../resource.js'

export type Definitions = Record<string, Plain>

/** Clients of the renamed interface look for `x-orch-`, stock clients for `x-kubernetes-`. */
export function extension (name: string, value: unknown): Plain {
  return { [`x-kubernetes-${name}`]: value, [`x-orch-${name}`]: value }
}

const SCALARS: Readonly<Record<ScalarName, Plain>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' }
}

export interface Gvk { readonly group: string, readonly version: string, readonly kind: string }

/** Gathers definitions of messages and of all they refer to. */
export class DefinitionSet {
  readonly #prefix: string
  readonly #definitions = new Map<string, Plain>()
  /** Group versions that options are accepted under. */
  readonly #anywhere: readonly Gvk[]

  constructor (prefix: string, groupVersions: ReadonlyArray<{ group: string, version: string }>) {
    this.#prefix = prefix
    this.#anywhere = groupVersions.map(({ group, version }) => ({ group, version, kind: '' }))
  }

  /** `{ $ref }` to a message, whose definition is made at the first call. */
  reference (message: Message): Plain {
    if (!this.#definitions.has(message.openapiName)) {
      // Before its fields, so that types within themselves end.
      this.#definitions.set(message.openapiName, {})
      this.#definitions.set(message.openapiName, this.#define(message))
    }
    return { $ref: this.#prefix + message.openapiName }
  }

  /** The list kind of a resource, which is declared nowhere because it follows from the resource. */
  list (resource: ResourceDefinition): Plain {
    const name = listName(resource)
    if (!this.#definitions.has(name)) {
      this.#definitions.set(name, {
        description: `A list of ${resource.kind} objects.`,
        type: 'object',
        required: ['items'],
        properties: {
          ...typeProperties,
          items: { description: 'The objects.', type: 'array', items: this.reference(resource.message) },
          metadata: { description: 'About the list.', ...this.reference(ListMeta) }
        },
        ...extension('group-version-kind', [{ group: resource.group, kind: resource.listKind, version: resource.version }])
      })
    }
    return { $ref: this.#prefix + name }
  }

  /** A definition that is no message. */
  plain (name: string, definition: Plain): Plain {
    this.#definitions.set(name, definition)
    return { $ref: this.#prefix + name }
  }

  /** By name. */
  all (): Definitions {
    return Object.fromEntries([...this.#definitions].sort(([a], [b]) => a < b ? -1 : 1))
  }

  #define (message: Message): Plain {
    const { special, type, text } = message
    if (special !== undefined) return { description: text, ...special.openapi }
    const { fields } = planOf(message)
    const required = fields.filter(field => field.required).map(field => field.name)
    const properties = [...fields].sort((a, b) => a.name < b.name ? -1 : 1).map(field => [field.name, this.#property(field)])
    return {
      description: text,
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      properties: { ...(type === undefined ? {} : typeProperties), ...Object.fromEntries(properties) },
      ...(message.structType === 'atomic' ? extension('map-type', 'atomic') : {}),
      ...(type === undefined ? {} : extension('group-version-kind', this.#kinds(type)))
    }
  }

  #kinds (type: NonNullable<Message['type']>): Plain[] {
    const own = { group: type.apiVersion.includes('/') ? type.group : '', version: type.version, kind: type.kind }
    const others = type.kind.endsWith('Options') ? this.#anywhere.filter(({ group }) => group !== own.group) : []
    return [own, ...others].map(({ group, version }) => ({ group, kind: type.kind, version }))
  }

  #property (planned: PlannedField): Plain {
    const { field, shape } = planned
    const element = planned.message === undefined ? SCALARS[planned.scalar ?? 'string'] : this.reference(planned.message)
    const described = { description: field.text }
    const rules = { ...constraints(field), ...merging(field) }
    switch (shape) {
      case 'list': return { ...described, type: 'array', items: element, ...rules }
      case 'map': return { ...described, type: 'object', additionalProperties: element, ...rules }
      default: return { ...described, ...element, ...rules }
    }
  }
}

const listName = ({ message, listKind }: ResourceDefinition) => message.openapiName.replace(/[^.]*$/, listKind)

const typeProperties: Plain = {
  apiVersion: { description: 'Group and version of this form of the object.', type: 'string' },
  kind: { description: 'What the object is.', type: 'string' }
}

function constraints (field: Field): Plain {
  return {
    ...(field.default === undefined ? {} : { default: field.default }),
    ...(field.closed === true && field.values !== undefined ? { enum: field.values } : {}),
    ...(field.maxLength === undefined ? {} : { maxLength: field.maxLength }),
    ...(field.pattern === undefined ? {} : { pattern: field.pattern.source }),
    ...(field.minimum === undefined ? {} : { minimum: field.minimum }),
    ...(field.maximum === undefined ? {} : { maximum: field.maximum })
  }
}

function merging (field: Field): Plain {
  return {
    ...(field.listType === undefined ? {} : extension('list-type', field.listType)),
    ...(field.listMapKeys === undefined ? {} : extension('list-map-keys', field.listMapKeys)),
    ...(field.mapType === undefined && field.structType === undefined ? {} : extension('map-type', field.mapType ?? field.structType)),
    ...(field.patchStrategy === undefined ? {} : extension('patch-strategy', field.patchStrategy)),
    ...(field.patchMergeKey === undefined ? {} : extension('patch-merge-key', field.patchMergeKey))
  }
}
