/**
 * Schema definitions in Swagger 2.0 or OpenAPI 3.0. Each is made once and shared by all documents. Only the result of
 * `keep` is retained, because thousands of long-lived objects would burden the garbage collector.
 */
import { DEFAULT_GATES, type Gates } from '../gates.js'
import { Facts, type Declaration, type Message, type Plain } from '../language/types.js'
import { SCALARS } from '../language/json-schema.js'
import { ListMeta, METADATA_TEXT, ObjectMeta } from '../meta/object.js'
import { planFor, type PlannedField } from '../language/plan.js'
import { structTypeOf } from '../language/struct-types.js'
import { deprecationIn, type Representation } from '../resource.js'
import { customSchema } from './custom-schemas.js'
import { constrain, extension, merge, unions } from './extensions.js'
import { groupVersions, type GroupVersion } from './naming.js'

/** Differences between the two formats. */
export interface Dialect {
  /** Path of the definitions. */
  readonly prefix: string
  /** A reference with a description and constraints. */
  readonly refer: (reference: Plain, beside: Plain) => Plain
  /** The schema of a special type, from its Swagger form. */
  readonly special: (openapi: Readonly<Plain>) => Readonly<Plain>
  /** Empty in Swagger, which has neither keyword. */
  readonly deprecated: Plain
  readonly swagger: boolean
  readonly nullable: Plain
}

/** What paths need of a DefinitionSet. */
export type References = Pick<DefinitionSet<unknown>, 'reference' | 'list'>

export class DefinitionSet<K = Plain> {
  readonly #dialect: Dialect
  readonly #keep: (definition: Plain) => K
  readonly #gates: Gates
  readonly #definitions = new Map<string, K | undefined>()
  /** References between definitions. */
  readonly #uses = new Map<string, Set<string>>()
  /** References of the definition or document in progress. */
  #used = new Set<string>()
  /** Built-in group versions that accept DeleteOptions: those of definitions, which come and go, are not listed. */
  readonly #anywhere: readonly GroupVersion[]
  readonly #deprecated: ReadonlySet<Declaration>
  /** Selectable fields of custom resources. */
  readonly #selectable: ReadonlyMap<Declaration, readonly string[]>

  constructor (
    dialect: Dialect, resources: readonly Representation[], keep: (definition: Plain) => K, gates = DEFAULT_GATES
  ) {
    this.#dialect = dialect
    this.#gates = gates
    this.#keep = keep
    this.#anywhere = groupVersions(resources.filter(({ message }) => message[Facts].given === undefined))
    this.#deprecated = new Set(
      resources.filter(resource => deprecationIn(gates, resource) !== undefined).map(({ message }) => message[Facts])
    )
    this.#selectable = new Map(
      resources.map(({ message, selectableFields = {} }) => [message[Facts], Object.keys(selectableFields)])
    )
  }

  /** `{ $ref }` to a message. Array types are inlined instead. */
  reference (message: Message): Plain { return this.#reference(message[Facts]) }

  /** Reference to the list kind of a resource, which is derived from the resource. */
  list (resource: Representation): Plain {
    const { group, version, kind, listKind, message } = resource
    return this.#refer(message[Facts].openapiName.replace(/[^.]*$/, listKind), () => ({
      description: `A list of ${kind} objects.`,
      type: 'object',
      required: ['items'],
      properties: {
        ...typeProperties,
        items: { description: 'The objects.', type: 'array', items: this.reference(message) },
        metadata: this.#dialect.refer(this.reference(ListMeta), { description: 'About the list.' })
      },
      ...extension('group-version-kind', [{ group, kind: listKind, version }])
    }))
  }

  /** The names of the definitions that were referenced since the last call. */
  take (): ReadonlySet<string> {
    const names = this.#used
    this.#used = new Set()
    return names
  }

  /** Those definitions, and those that they refer to, directly or indirectly. */
  withReferences (taken: Iterable<string>): Array<readonly [string, K]> {
    const names = new Set(taken)
    for (const name of names) for (const below of this.#uses.get(name) ?? []) names.add(below) // grows during the loop
    return [...names].sort().map(name => [name, this.#definitions.get(name) as K]) // complete by now
  }

  #refer (name: string, define: () => Plain): Plain {
    this.#used.add(name)
    if (!this.#definitions.has(name)) {
      const outer = this.#used
      this.#used = new Set()
      this.#uses.set(name, this.#used)
      this.#definitions.set(name, undefined) // first, so that recursive types terminate
      this.#definitions.set(name, this.#keep(define()))
      this.#used = outer
    }
    return { $ref: this.#dialect.prefix + name }
  }

  #reference (message: Declaration): Plain {
    if (message.special?.openapi['type'] === 'array') return message.special.openapi
    const { formerly } = message
    if (formerly !== undefined && !this.#gates.enabled(formerly.until)) return this.reference(formerly.message)
    return this.#refer(message.openapiName, () => this.#define(message))
  }

  #define (message: Declaration): Plain {
    const { special, alternatives, type, description } = message
    if (special !== undefined) return { description, ...this.#dialect.special(special.openapi) }
    if (alternatives !== undefined) return { description } // as upstream: Swagger has no unions
    if (message.given !== undefined) return this.#given(message)
    const fields = planFor(message).fields.filter(({ field: { since, gate, removed } }) =>
      (removed === undefined || !this.#gates.enabled(removed)) && (since === undefined || this.#gates.enabled(since) ||
      (gate !== undefined && this.#gates.enabled(typeof gate === 'string' ? gate : gate.name))))
    const required = fields.filter(field => field.required).map(field => field.name)
    const own = [...fields].sort((a, b) => a.name < b.name ? -1 : 1).map(field => [field.name, this.#property(field)])
    const properties = { ...(type === undefined ? {} : typeProperties), ...Object.fromEntries(own) as Plain }
    return {
      description,
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      ...(Object.keys(properties).length > 0 ? { properties } : {}),
      ...(structTypeOf(message, this.#gates) === 'atomic' ? extension('map-type', 'atomic') : {}),
      ...(message.preserveUnknown === true ? extension('preserve-unknown-fields', true) : {}),
      ...unions(fields),
      ...(this.#deprecated.has(message) ? this.#dialect.deprecated : {}),
      ...(type === undefined ? {} : extension('group-version-kind', this.#kinds(type)))
    }
  }

  #given (message: Declaration): Plain {
    const { given = {}, description, type } = message
    const selectable = this.#selectable.get(message) ?? []
    const standard = {
      metadata: this.#dialect.refer(this.reference(ObjectMeta), { description: METADATA_TEXT }),
      types: typeProperties
    }
    return {
      description, ...customSchema(given, this.#dialect.swagger, standard),
      ...(type === undefined ? {} : extension('group-version-kind', this.#kinds(type))),
      ...(selectable.length === 0
        ? {}
        : extension('selectable-fields', selectable.map(fieldPath => ({ fieldPath }))))
    }
  }

  #kinds (type: NonNullable<Declaration['type']>): Plain[] {
    const own = { group: type.apiVersion.includes('/') ? type.group : '', version: type.version }
    const others = type.kind === 'DeleteOptions' ? this.#anywhere.filter(({ group }) => group !== own.group) : []
    return [own, ...others].map(({ group, version }) => ({ group, kind: type.kind, version }))
  }

  #property (planned: PlannedField): Plain {
    const { field, shape } = planned
    const element = planned.element !== undefined
      ? this.#property(planned.element)
      : planned.message === undefined
        ? SCALARS[planned.scalar ?? 'string']
        : this.#reference(planned.message)
    const schema: Plain = { description: field.description }
    if (shape === 'list') Object.assign(schema, { type: 'array', items: element })
    else if (shape === 'map') Object.assign(schema, { type: 'object', additionalProperties: element })
    else if (!('$ref' in element)) Object.assign(schema, element)
    constrain(schema, field, this.#gates)
    merge(schema, planned, this.#gates)
    if (planned.nullable) Object.assign(schema, this.#dialect.nullable)
    return shape !== 'list' && shape !== 'map' && '$ref' in element ? this.#dialect.refer(element, schema) : schema
  }
}

const typeProperties: Plain = {
  apiVersion: { description: 'APIVersion defines the group and version of this form of the object.', type: 'string' },
  kind: { description: 'Kind is a string that says what the object is.', type: 'string' }
}
