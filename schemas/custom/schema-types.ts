/** The type of the values of a structural schema, as rules see them, with the sizes that a request can hold. */
import { createHash } from 'node:crypto'
import { isSchema, type JSONSchemaProps as Schema } from '../api/apiextensions/schemas.js'
import { escapeName } from '../../expressions/names.js'
import { stringify } from '../codec/json/exact.js'
import { BOOL, INT, STRING, type Type } from '../../expressions/types.js'

/** Upstream's bound of a request, from which it derives how large an unbounded value can be. */
export const MAX_REQUEST = 3 * 1024 * 1024
/** Bytes of the brackets of a list or object, or of the quotes of a string. */
const AROUND = 2
const UNBOUNDED = MAX_REQUEST - AROUND
/** Bytes of quotes, colon and comma of a member, without its name. */
const AROUND_NAME = 4
const MAX_BYTES_OF_CHARACTER = 4

const OF_EVERY_OBJECT: Schema = {
  type: 'object',
  properties: {
    kind: { type: 'string' },
    apiVersion: { type: 'string' },
    metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } }
  }
}

/** The length that a schema declares; a negative one is 0. */
const bound = (declared: unknown): number | undefined =>
  declared === undefined || declared === null ? undefined : Math.max(0, Number(declared))

/** @param isObject the root of an object, whose kind, apiVersion, name and generateName are always visible */
export class SchemaTypes {
  readonly #known = new Map<Schema, Type | undefined>()

  /** Undefined for values that rules cannot see: fields without schema. */
  of (schema: Schema, isObject = schema['x-orch-embedded-resource'] === true): Type | undefined {
    if (this.#known.has(schema)) return this.#known.get(schema)
    const declared = this.#make(
      isObject ? { ...schema, properties: { ...schema.properties, ...OF_EVERY_OBJECT.properties } } : schema
    )
    const type = declared === undefined || schema.nullable !== true ? declared : { ...declared, nullable: true }
    this.#known.set(schema, type)
    return type
  }

  #make (schema: Schema): Type | undefined {
    if (schema['x-orch-int-or-string'] === true) {
      const most = bound(schema.maxLength)
      return { kind: 'dyn', least: 1, most: most === undefined ? UNBOUNDED : most * MAX_BYTES_OF_CHARACTER }
    }
    switch (schema.type) {
      case 'array': return this.#list(schema)
      case 'object':
        return isSchema(schema.additionalProperties)
          ? this.#map(schema, schema.additionalProperties)
          : this.#object(schema)
      case 'string': return text(schema)
      case 'boolean': return { ...BOOL, least: 4, most: 0 }
      case 'number': return { kind: 'double', least: 1, most: 0 }
      case 'integer': return { ...INT, least: 1, most: 0 }
      default: return undefined
    }
  }

  #list ({ items, maxItems, 'x-orch-list-type': listType, 'x-orch-list-map-keys': keys }: Schema): Type | undefined {
    const of = isSchema(items) ? this.of(items) : undefined
    if (of === undefined) return undefined
    const most = bound(maxItems) ?? Math.floor(UNBOUNDED / ((of.least ?? 0) + 1))
    return {
      kind: 'list', of, most, least: AROUND,
      ...(listType === 'set' ? { identity: 'set' } : listType === 'map' ? { identity: keys ?? [] } : {})
    }
  }

  #map ({ maxProperties }: Schema, values: Schema): Type | undefined {
    const of = this.of(values)
    if (of === undefined) return undefined
    const most = bound(maxProperties) ?? Math.floor(UNBOUNDED / ((of.least ?? 0) + AROUND + AROUND_NAME))
    return { kind: 'map', key: { ...STRING, most: 0 }, of, most, least: AROUND }
  }

  #object ({ properties = {}, required = [] }: Schema): Type {
    const fields = new Map<string, { member: string, type: Type }>()
    let least = AROUND
    for (const [member, schema] of Object.entries(properties)) {
      const [name, type] = [escapeName(member), this.of(schema)]
      if (type === undefined) continue
      if (required.includes(member) && schema.default === undefined) {
        least += member.length + (type.least ?? 0) + AROUND_NAME
      }
      if (name !== undefined) fields.set(name, { member, type })
    }
    return { kind: 'object', fields, least, most: 0 }
  }
}

function text (schema: Schema): Type {
  const { format, maxLength } = schema
  switch (format) {
    case 'byte': return { kind: 'bytes', most: bound(maxLength) ?? UNBOUNDED, least: AROUND }
    case 'duration': return { kind: 'duration', most: 32, least: 3 }
    case 'date': return { kind: 'timestamp', most: 12, least: 12 }
    case 'date-time': return { kind: 'timestamp', most: 32, least: 21 }
    default: return { ...STRING, most: longest(schema), least: AROUND }
  }
}

function longest ({ maxLength, enum: values = [] }: Schema): number {
  const most = bound(maxLength)
  if (most !== undefined) return most * MAX_BYTES_OF_CHARACTER
  return values.length === 0
    ? UNBOUNDED
    : values.reduce((length: number, value) =>
        typeof value === 'string' ? Math.max(length, Buffer.byteLength(value)) : length, 0)
}

const MAX_SHARED = 1000
const shared = new Map<string, { readonly type: Type | undefined }>()

/** The same type for equal schemas, so that what was compiled for it is found again. */
export function sharedType (schema: Schema, isObject: boolean): Type | undefined {
  const key = createHash('sha256').update(`${String(isObject)} ${stringify(schema)}`).digest('base64')
  let known = shared.get(key)
  if (known === undefined) {
    if (shared.size >= MAX_SHARED) shared.clear()
    shared.set(key, known = { type: new SchemaTypes().of(schema, isObject) })
  }
  return known.type
}
