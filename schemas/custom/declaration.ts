/**
 * Turns the structural schema of a custom resource into a declaration like those of `schemas/api/`, so that the same
 * codec, defaults, server-side apply and OpenAPI serve it. Every field is a pointer: zeros and empty lists are kept.
 * Members not in the schema are pruned and reported as unknown. Values of the wrong type are kept until `rules.ts`
 * reports them, as upstream does: a webhook may mend them first. Nested parts are declared when they are first needed,
 * as most definitions are larger than their use.
 */
import { METADATA_TEXT, ObjectMeta } from '../meta/object.js'
import { jsonValue, Time } from '../meta/scalars.js'
import { apiPackage, list, map, one } from '../language/declare.js'
import { messageSchema } from '../language/json-schema.js'
import {
  Facts, type Declaration, type Field, type FieldOptions, type Fields, type GroupVersionKind, type KindFacts,
  type Message, type Plain, type TypeMembers
} from '../language/types.js'
import { isSchema, OF_EVERY_KIND, type JSONSchemaProps } from '../api/apiextensions/schemas.js'
import { DEFAULT_GATES } from '../gates.js'
import { apiVersionOf } from '../groups.js'
import { CustomResourceDefinition } from '../api/apiextensions/customresourcedefinitions.js'
import { someSchema } from '../api/apiextensions/rules/schema-walk.js'
import { validateDefinition } from '../api/apiextensions/rules/customresourcedefinitions.js'
import { decode } from '../language/decode.js'
import { collectInSteps } from '../language/validation.js'
import { finish } from '../steps.js'
import { describe } from '../status.js'
import { customRules } from './rules.js'

/** An OpenAPI v3 schema in the form that definitions use. */
export type StructuralSchema = JSONSchemaProps

const { message, special } = apiPackage('', '', 'io.orch.apiextensions', { name: 'structural' })
/** False for values with numbers that JSON cannot represent. */
const hasFiniteNumbers = (value: unknown): boolean => typeof value === 'number'
  ? Number.isFinite(value)
  : typeof value !== 'object' || value === null || Object.values(value).every(hasFiniteNumbers)
const finite = (openapi: Plain): ReturnType<typeof jsonValue> =>
  ({ ...jsonValue(openapi), decode: (value, refuse) => hasFiniteNumbers(value) ? value : refuse('a finite number') })
const scalar = (name: string, openapi: Plain): Message => special(name, '', {}, finite(openapi))
const Text = scalar('String', { type: 'string' })
const SCALARS: Readonly<Record<string, Message>> = {
  string: Text,
  integer: scalar('Integer', { type: 'integer' }),
  number: scalar('Number', { type: 'number' }),
  boolean: scalar('Boolean', { type: 'boolean' })
}
/** Formats that expressions of policies read as something else than text. */
const FORMATTED: Readonly<Record<string, Message>> = Object.fromEntries(
  ['byte', 'date', 'date-time', 'duration'].map(format => [format, scalar('String', { type: 'string', format })])
)
const IntOrString = special('IntOrString', '', {}, {
  ...finite({}), schema: { anyOf: [{ type: 'integer' }, { type: 'string' }] }
})
const AnyObject = special('Object', '', {}, { ...finite({ type: 'object' }), open: true })
const AnyValue = special('Value', '', {}, { ...finite({}), open: true })

/**
 * Declares the kind that the schema describes, with standard metadata and the rules of the schema.
 * @throws TypeError for a schema that is not structural
 */
export function fromStructural (kind: GroupVersionKind, schema: StructuralSchema): Message<Custom> {
  const root = checked(kind, schema)
  const { validate } = customRules(root)
  return declareKind(kind, root, {
    validateCreate: (object, _at, report) => { finish(validate(object, undefined, report)) },
    validateUpdate: (object, old, _at, report) => { finish(validate(object, old, report)) }
  })
}

/** Hosts are not typed: their schemas are checked as those of definitions. */
function checked ({ group, version, kind }: GroupVersionKind, openAPIV3Schema: StructuralSchema): JSONSchemaProps {
  const plural = `${kind.toLowerCase()}s`
  const spec = {
    group, scope: 'Namespaced', names: { plural, kind, singular: plural, listKind: `${kind}List` },
    versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }]
  }
  const { object, unknown } = decode(CustomResourceDefinition, {
    metadata: { name: `${plural}.${group}` }, spec, status: { storedVersions: [version] }
  })
  const [
    problem = unknown.map(field => ({ type: 'FieldValueForbidden', field, detail: 'no such keyword' } as const))[0]
  ] = finish(collectInSteps(report => validateDefinition(object, undefined, report, DEFAULT_GATES)))
  if (problem !== undefined) {
    throw new TypeError(
      `${kind}: ${problem.field.replace('spec.validation.openAPIV3Schema', 'schema')}: ${describe(problem)}`
    )
  }
  return object.spec.versions?.[0]?.schema?.openAPIV3Schema ?? {}
}

type Custom = TypeMembers & { metadata: ObjectMeta }

/** The same from a definition, whose schema is valid; without rules by default. */
export function declareKind (
  kind: GroupVersionKind, root: JSONSchemaProps, rules: Pick<Extra, 'validateCreate' | 'validateUpdate'> = {}
): Message<Custom> {
  const { group, version, kind: name } = kind
  const prefix = [...group.split('.').reverse(), version].join('.')
  const builder = new Builder(prefix, name)
  const properties = Object.fromEntries(
    Object.entries(root.properties ?? {}).filter(([member]) => !OF_EVERY_KIND.has(member))
  )
  const type: KindFacts = { group, version, kind: name, apiVersion: apiVersionOf(group, version), anyVersion: false }
  return builder.within(root).message(name, { ...root, properties }, name, {
    type,
    given: root,
    around: { metadata: one(null, METADATA_TEXT, ObjectMeta) },
    ...rules
  }) as Message<Custom> // the fields above
}

interface Extra extends Partial<Pick<Declaration, 'type' | 'given' | 'validateCreate' | 'validateUpdate'>> {
  /** Fields that precede those of the schema, which may declare the same. */
  readonly around?: Fields
  /** Fields that replace those of the schema. */
  readonly instead?: Fields
}

class Builder {
  readonly #prefix: string
  readonly #kind: string
  /** Whether what contains the declared preserves unknown members, which server-side apply inherits. */
  readonly #freeForm: boolean

  constructor (prefix: string, kind: string, freeForm = false) {
    this.#prefix = prefix
    this.#kind = kind
    this.#freeForm = freeForm
  }

  /** For the parts of a schema. */
  within (schema: JSONSchemaProps): Builder {
    if (this.#freeForm || schema['x-orch-preserve-unknown-fields'] !== true) return this
    return new Builder(this.#prefix, this.#kind, true)
  }

  message (name: string, schema: JSONSchemaProps, at: string, more: Extra = {}): Message {
    const { around = {}, instead = {}, ...extra } = more
    const build = (): Fields => this.#fields(schema, at)
    let fields: Fields | undefined
    return messageSchema({
      name: `${this.#kind}.${name}`,
      openapiName: `${this.#prefix}.${name}`,
      formerly: undefined,
      description: schema.description ?? '',
      get fields () { return fields ??= { ...around, ...build(), ...instead } },
      type: undefined,
      given: undefined,
      special: undefined,
      alternatives: undefined,
      structType: undefined,
      protobuf: false,
      preserveUnknown: schema['x-orch-preserve-unknown-fields'] === true || schema.additionalProperties === true ||
        undeclarable(schema),
      freeForm: this.#freeForm || (more.around === undefined && Object.keys(schema.properties ?? {}).length === 0),
      defaults: undefined,
      validate: undefined,
      validateCreate: undefined,
      validateUpdate: undefined,
      ...extra
    })
  }

  #fields ({ properties = {} }: JSONSchemaProps, at: string): Fields {
    return Object.fromEntries(Object.entries(properties).filter(([name]) => !isInherited(name)).sort(([a], [b]) =>
      a < b ? -1 : 1).map(([name, property]) => [name, this.#field(property, `${at}_${name}`)]))
  }

  #field (schema: JSONSchemaProps, at: string): Field {
    return this.within(schema).#own(schema, at)
  }

  #own (schema: JSONSchemaProps, at: string): Field {
    const { description: text = '', type = '' } = schema
    const options = {
      pointer: true,
      anyType: true,
      ...(schema.nullable === true ? { nullable: true } : {}),
      ...(schema.default === undefined ? {} : { default: schema.default })
    } as const satisfies FieldOptions
    if (schema['x-orch-int-or-string'] === true) return one(null, text, IntOrString, options)
    if (type === 'array') return this.#list(schema, at, text, options)
    if (type === 'object') return this.#object(schema, at, text, options)
    const formatted = type === 'string' ? FORMATTED[schema.format ?? ''] : undefined
    return one(null, text, formatted ?? SCALARS[type] ?? AnyValue, options)
  }

  #list (schema: JSONSchemaProps, at: string, text: string, options: FieldOptions): Field {
    const { items, 'x-orch-list-type': listType, 'x-orch-list-map-keys': listMapKeys } = schema
    const keeps = schema['x-orch-preserve-unknown-fields'] === true
    const merging = {
      ...(listType === undefined ? {} : { listType: listType as 'atomic' }),
      ...(listMapKeys === undefined ? {} : { listMapKeys })
    }
    const item = isSchema(items) ? this.#field(keeps ? keeping(items) : items, at) : one(null, '', AnyValue, options)
    return list(null, text, item, { ...options, ...merging })
  }

  #object (
    schema: JSONSchemaProps, at: string, text: string, options: FieldOptions & { readonly pointer: true }
  ): Field {
    const { additionalProperties, properties, 'x-orch-embedded-resource': embedded, 'x-orch-map-type': mapType } =
      schema
    const merging = { ...options, ...(mapType === undefined ? {} : { mapType: mapType as 'atomic' }) }
    if (isSchema(additionalProperties) && properties === undefined) {
      return map(null, text, this.#field(additionalProperties, at), merging)
    }
    const keeps = additionalProperties === true || schema['x-orch-preserve-unknown-fields'] === true
    if (keeps && properties === undefined && embedded !== true) return one(null, text, AnyObject, merging)
    const name = at.replace(/[^A-Za-z0-9]+/g, '_')
    const extra = embedded === true ? this.#ofEmbedded(schema, at) : {}
    return one(null, text, this.message(name, schema, at, extra), merging)
  }

  /**
   * The fields of an embedded object, whether its schema declares them or not. Its metadata are an ObjectMeta, whatever
   * else the schema says of them.
   */
  #ofEmbedded ({ properties: { metadata } = {} }: JSONSchemaProps, at: string): Extra {
    const options = { pointer: true, anyType: true } as const
    return {
      around: {
        apiVersion: one(null, '', Text, options),
        kind: one(null, '', Text, options),
        metadata: one(null, '', EmbeddedMeta, { pointer: true })
      },
      ...(metadata === undefined ? {} : { instead: { metadata: this.#metadata(metadata, `${at}_metadata`) } })
    }
  }

  /** Only defaults are taken from the schema. */
  #metadata ({ default: preset, properties = {} }: JSONSchemaProps, at: string): Field {
    const { fields } = EmbeddedMeta[Facts]
    const hasDefaults = (part: JSONSchemaProps): boolean => someSchema(part, schema => schema.default !== undefined)
    const filled = Object.entries(properties).filter(([name, part]) => Object.hasOwn(fields, name) && hasDefaults(part))
    const kept = Object.fromEntries(filled.map(([name, part]) => [name, keeping(part)]))
    const meta = filled.length === 0 ? EmbeddedMeta : this.message(at, { properties: kept }, at, { around: fields })
    return one(null, '', meta, { pointer: true, ...(preset === undefined ? {} : { default: preset }) })
  }
}

/** Unknown members of objects in a list that preserves them are kept; those of their own members are not. */
const keeping = (schema: JSONSchemaProps): JSONSchemaProps => ({ ...schema, 'x-orch-preserve-unknown-fields': true })

/** The metadata of an object that nobody has created yet. */
const EmbeddedMeta = message('EmbeddedMeta', '', {
  ...ObjectMeta[Facts].fields, creationTimestamp: one(null, '', Time, { pointer: true })
})

/** Names that every JavaScript object inherits. */
const isInherited = (name: string): boolean => name in Object.prototype

/** Properties with such names, or false. They are kept as sent: no pruning, no defaults. */
function undeclarable ({ properties = {} }: JSONSchemaProps): false | ReadonlySet<string> {
  const names = Object.keys(properties).filter(isInherited)
  return names.length > 0 && new Set(names)
}
