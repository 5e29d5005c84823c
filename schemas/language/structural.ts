/**
 * Turns the structural schema of a custom resource into a declaration like those of `schemas/api/`, with the same codec, pruning,
 * defaults, validation and JSON Schema. Every field is a pointer, so zeros and empty lists are kept. Fields not in the schema are
 * pruned and reported as unknown, unless `x-orch-preserve-unknown-fields` is set.
 *
 * Limits: `allOf`, `anyOf` (except beside `x-orch-int-or-string`), `oneOf`, `not` and CEL rules are refused by name; of the formats
 * only int32 and int64 are checked; there is no protobuf form.
 */
import type * as Re2 from 're2js'
import { ObjectMeta } from '../meta/object.js'
import { jsonValue } from '../meta/scalars.js'
import { onDemand } from '../on-demand.js'
import { apiPackage, bool, double, int32, int64, list, map, one, string } from './declare.js'
import type { Field, FieldOptions, GroupVersionKind, Message, MessageOptions, Plain, Report, Special, TypeMembers } from './types.js'
import { sameValue } from './values.js'

const re2 = onDemand<typeof Re2>('re2js')

export interface StructuralSchema {
  readonly type?: string
  readonly description?: string
  readonly title?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, StructuralSchema>>
  readonly required?: readonly string[]
  readonly items?: StructuralSchema
  readonly additionalProperties?: StructuralSchema | boolean
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly nullable?: boolean
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly anyOf?: readonly unknown[]
  readonly example?: unknown
  readonly externalDocs?: unknown
  readonly 'x-orch-preserve-unknown-fields'?: boolean
  readonly 'x-orch-int-or-string'?: boolean
  readonly 'x-orch-embedded-resource'?: boolean
  readonly 'x-orch-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-orch-list-map-keys'?: readonly string[]
  readonly 'x-orch-map-type'?: 'atomic' | 'granular'
}

const KNOWN: ReadonlySet<string> = new Set<keyof StructuralSchema>([
  'type', 'description', 'title', 'format', 'properties', 'required', 'items', 'additionalProperties', 'enum', 'default', 'nullable', 'pattern', 'minLength', 'maxLength',
  'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'example', 'externalDocs',
  'x-orch-preserve-unknown-fields', 'x-orch-int-or-string', 'x-orch-embedded-resource', 'x-orch-list-type', 'x-orch-list-map-keys', 'x-orch-map-type'
])

const { special } = apiPackage('', '', 'io.orch.apiextensions', { name: 'structural' })
const raw = (refuses: (value: unknown) => string | undefined, schema: Plain): Special<unknown> => ({
  ...jsonValue(schema),
  decode: (value, refuse) => {
    const expected = refuses(value)
    return expected === undefined ? value : refuse(expected)
  }
})
const isObject = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value)
const isInteger = (value: unknown): boolean => typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value)

const IntOrString = special('IntOrString', 'An integer or a text.', {}, {
  ...raw(value => typeof value === 'string' || isInteger(value) ? undefined : 'an integer or a string', {}),
  schema: { anyOf: [{ type: 'integer' }, { type: 'string' }] }
})
const AnyObject = special('Object', 'Any object.', {}, { ...raw(value => isObject(value) ? undefined : 'an object', { type: 'object' }), open: true })
const AnyValue = special('Value', 'Any value.', {}, { ...raw(() => undefined, {}), open: true })

/**
 * Declares the kind that the schema describes, with standard metadata.
 * @throws TypeError with path and keyword for a schema that is not structural or uses an unsupported keyword
 */
export function fromStructural ({ group, version, kind: name }: GroupVersionKind, schema: StructuralSchema): Message<TypeMembers & { metadata: ObjectMeta }> {
  const declare = apiPackage(group, version, [...group.split('.').reverse(), version].join('.'))
  const { metadata: _metadata, kind: _kind, apiVersion: _version, ...properties } = schema.properties ?? {} // declared below for every kind
  if (schema.type !== undefined && schema.type !== 'object') throw new TypeError(`${name}: type must be object`)
  const builder = new Builder(declare.message, name)
  builder.check(schema, name)
  const { fields, options } = builder.parts({ ...schema, properties }, name)
  return declare.kind(name, schema.description ?? `A ${name}.`, { metadata: one(null, 'Standard object metadata.', ObjectMeta), ...fields } as { metadata: Field<ObjectMeta, 'always'> }, options as object)
}

type Options = FieldOptions & { readonly pointer: true }

class Builder {
  readonly #message: ReturnType<typeof apiPackage>['message']
  readonly #kind: string

  constructor (message: ReturnType<typeof apiPackage>['message'], kind: string) {
    this.#message = message
    this.#kind = kind
  }

  check (schema: StructuralSchema, at: string): void {
    if (!isObject(schema)) throw new TypeError(`${at}: a schema must be an object`)
    for (const [key, value] of Object.entries(schema)) {
      if (value === undefined || KNOWN.has(key) || (key === 'anyOf' && schema['x-orch-int-or-string'] === true)) continue
      throw new TypeError(`${at}: ${key} is not supported`)
    }
  }

  parts (schema: StructuralSchema, at: string): { fields: Record<string, Field>, options: MessageOptions<Plain> } {
    const properties = Object.entries(schema.properties ?? {}).sort(([a], [b]) => a < b ? -1 : 1)
    return {
      fields: Object.fromEntries(properties.map(([name, property]) => [name, this.#field(property, `${at}.${name}`)])),
      options: {
        protobuf: false,
        ...(schema['x-orch-preserve-unknown-fields'] === true ? { preserveUnknown: true } : {}),
        validate: (object, at, report) => {
          const path = (name: string): string => at === '' ? name : `${at}.${name}`
          for (const name of schema.required ?? []) {
            if (object[name] === undefined) report({ type: 'FieldValueRequired', field: path(name), detail: '' })
          }
          for (const [name, property] of properties) checkValue(property, object[name], path(name), report)
        }
      }
    }
  }

  #field (schema: StructuralSchema, at: string): Field {
    this.check(schema, at)
    const text = schema.description ?? ''
    const options: Options = {
      pointer: true,
      ...(schema.nullable === true ? { nullable: true } : {}),
      ...(schema.default === undefined ? {} : { default: schema.default }),
      ...(schema.minimum === undefined ? {} : { minimum: schema.minimum }),
      ...(schema.maximum === undefined ? {} : { maximum: schema.maximum })
    }
    if (schema['x-orch-int-or-string'] === true) return one(null, text, IntOrString, options)
    switch (schema.type) {
      case 'string': return string(null, text, { ...options, ...texts(schema, at) })
      case 'integer': return schema.format === 'int32' ? int32(null, text, options) : int64(null, text, options)
      case 'number': return double(null, text, options)
      case 'boolean': return bool(null, text, options)
      case 'array': return this.#list(schema, at, text, options)
      case 'object': return this.#object(schema, at, text, options)
      case undefined:
        if (schema['x-orch-preserve-unknown-fields'] === true) return one(null, text, AnyValue, options)
        throw new TypeError(`${at}: type is required`)
      default: throw new TypeError(`${at}: type ${JSON.stringify(schema.type)} is not one of string, integer, number, boolean, array, object`)
    }
  }

  #list (schema: StructuralSchema, at: string, text: string, options: Options): Field {
    if (schema.items === undefined) throw new TypeError(`${at}: items is required of a list`)
    const { 'x-orch-list-type': listType, 'x-orch-list-map-keys': listMapKeys } = schema
    return list(null, text, this.#field(schema.items, `${at}[]`), { ...options, ...(listType === undefined ? {} : { listType }), ...(listMapKeys === undefined ? {} : { listMapKeys }) })
  }

  #object (schema: StructuralSchema, at: string, text: string, options: Options): Field {
    const { additionalProperties, properties, 'x-orch-embedded-resource': embedded, 'x-orch-map-type': mapType } = schema
    const merging = mapType === undefined ? {} : { mapType }
    if (typeof additionalProperties === 'object') {
      if (properties !== undefined) throw new TypeError(`${at}: additionalProperties and properties exclude each other`)
      return map(null, text, this.#field(additionalProperties, `${at}.*`), { ...options, ...merging })
    }
    const keeps = additionalProperties === true || schema['x-orch-preserve-unknown-fields'] === true
    if (keeps && properties === undefined && embedded !== true) return one(null, text, AnyObject, { ...options, ...merging })
    const { fields, options: rules } = this.parts(embedded === true ? { ...schema, required: [...new Set(['apiVersion', 'kind', ...schema.required ?? []])] } : schema, at)
    const own = embedded === true
      ? { apiVersion: string(null, 'API version of the object.', { pointer: true }), kind: string(null, 'Kind of the object.', { pointer: true }), metadata: one(null, 'Standard object metadata.', ObjectMeta, { pointer: true }), ...fields }
      : fields
    const name = at.slice(this.#kind.length + 1).replace(/[^A-Za-z0-9]+/g, '_')
    return one(null, text, this.#message(`${this.#kind}_${name}`, schema.description ?? '', own, { ...rules as object, ...(keeps ? { preserveUnknown: true } : {}) }), { ...options, ...merging })
  }
}

function texts (schema: StructuralSchema, at: string): FieldOptions {
  const { enum: values, maxLength, pattern } = schema
  return {
    ...(values !== undefined && values.every(value => typeof value === 'string') ? { values, closed: true } : {}),
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(pattern === undefined ? {} : { pattern: expression(pattern, at) })
  }
}

/** Users supply these expressions, so they run in RE2, in linear time. */
function expression (source: string, at: string): { source: string, test: (text: string) => boolean } {
  const { RE2JS } = re2()
  try {
    const compiled = RE2JS.compile(source)
    return { source, test: text => compiled.matcher(text).find() }
  } catch (error) {
    throw new TypeError(`${at}: pattern ${JSON.stringify(source)} is not a regular expression`, { cause: error })
  }
}

/** Validates what a field declaration cannot express, down to nested messages, which have rules of their own. */
function checkValue (schema: StructuralSchema, value: unknown, at: string, report: Report): void {
  if (value === undefined || value === null) return
  const invalid = (detail: string): void => report({ type: 'FieldValueInvalid', field: at, value, detail })
  if (schema.enum !== undefined && typeof value !== 'string' && !schema.enum.some(known => sameValue(known, value))) {
    report({ type: 'FieldValueNotSupported', field: at, value, detail: `supported values: ${schema.enum.map(known => JSON.stringify(known)).join(', ')}` })
  }
  if (typeof value === 'string') {
    if (schema.minLength !== undefined && [...value].length < schema.minLength) invalid(`should be at least ${schema.minLength} chars long`)
  } else if (typeof value === 'number' || typeof value === 'bigint') {
    if (schema.exclusiveMinimum === true && value === schema.minimum) invalid(`should be greater than ${schema.minimum}`)
    if (schema.exclusiveMaximum === true && value === schema.maximum) invalid(`should be less than ${schema.maximum}`)
    if (schema.multipleOf !== undefined && !Number.isInteger(Number(value) / schema.multipleOf)) invalid(`should be a multiple of ${schema.multipleOf}`)
  } else if (Array.isArray(value)) checkList(schema, value, at, report)
  else if (isObject(value)) {
    const count = Object.keys(value).length
    if (schema.minProperties !== undefined && count < schema.minProperties) invalid(`should have at least ${schema.minProperties} properties`)
    if (schema.maxProperties !== undefined && count > schema.maxProperties) report({ type: 'FieldValueTooMany', field: at, value: count, detail: `must have at most ${schema.maxProperties} items` })
    const { additionalProperties } = schema
    if (typeof additionalProperties === 'object') for (const [key, item] of Object.entries(value)) checkValue(additionalProperties, item, `${at}[${key}]`, report)
  }
}

function checkList (schema: StructuralSchema, value: readonly unknown[], at: string, report: Report): void {
  const { items, minItems, maxItems, 'x-orch-list-type': type, 'x-orch-list-map-keys': keys = [] } = schema
  if (minItems !== undefined && value.length < minItems) report({ type: 'FieldValueInvalid', field: at, value, detail: `should have at least ${minItems} items` })
  if (maxItems !== undefined && value.length > maxItems) report({ type: 'FieldValueTooMany', field: at, value: value.length, detail: `must have at most ${maxItems} items` })
  const known = new Set<string>()
  value.forEach((item, index) => {
    if (items !== undefined) checkValue(items, item, `${at}[${index}]`, report)
    if (type !== 'set' && type !== 'map') return
    const key = identity(type === 'set' ? item : keys.map(name => isObject(item) ? item[name] ?? null : null))
    if (known.has(key)) report({ type: 'FieldValueDuplicate', field: `${at}[${index}]`, value: item, detail: '' })
    known.add(key)
  })
}

/** Canonical text: equal values give equal text, whatever the order of their members. */
function identity (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(identity).join()}]`
  if (isObject(value)) return `{${Object.keys(value).sort().map(key => `${JSON.stringify(key)}:${identity(value[key])}`).join()}}`
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value) ?? 'null'
}
