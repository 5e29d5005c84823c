/** The type of the values of a structural schema, as rules see them, with the sizes that a request can hold. */
import { isSchema, type JSONSchemaProps as Schema } from '../api/apiextensions/schemas.js'
import { escapeName } from '../../expressions/names.js'
import { BOOL, INT, STRING, type Type } from '../../expressions/types.js'

/** Upstream's bound of a request, from which it derives how large an unbounded value can be. */
export const MAX_REQUEST = 3 * 1024 * 1024
/** Bytes of the brackets of a list or object, or of the quotes of a string. */
const AROUND = 2
/** Bytes of quotes, colon and comma of a member, without its name. */
const AROUND_NAME = 4
const MAX_BYTES_OF_CHARACTER = 4
const SHORTEST = { date: 12, 'date-time': 22, duration: 4 } as const

const OF_EVERY_OBJECT: Schema = {
  type: 'object',
  properties: {
    kind: { type: 'string' },
    apiVersion: { type: 'string' },
    metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } }
  }
}

/** @param isObject the root of an object, whose kind, apiVersion, name and generateName are always visible */
export class SchemaTypes {
  readonly #known = new Map<Schema, Type | undefined>()

  /** Undefined for values that rules cannot see: fields without schema. */
  of (schema: Schema, isObject = schema['x-orch-embedded-resource'] === true): Type | undefined {
    if (this.#known.has(schema)) return this.#known.get(schema)
    const made = this.#make(
      isObject ? { ...schema, properties: { ...schema.properties, ...OF_EVERY_OBJECT.properties } } : schema
    )
    const type = made === undefined || schema.nullable !== true ? made : { ...made, nullable: true }
    this.#known.set(schema, type)
    return type
  }

  #make (schema: Schema): Type | undefined {
    if (schema['x-orch-int-or-string'] === true) return { kind: 'dyn', least: 1, most: MAX_REQUEST - AROUND }
    switch (schema.type) {
      case 'array': return this.#list(schema)
      case 'object':
        return isSchema(schema.additionalProperties)
          ? this.#map(schema, schema.additionalProperties)
          : this.#object(schema)
      case 'string': return text(schema)
      case 'boolean': return { ...BOOL, least: AROUND_NAME }
      case 'number': return { kind: 'double', least: 1 }
      case 'integer': return { ...INT, least: 1 }
      default: return undefined
    }
  }

  #list ({ items, maxItems, 'x-orch-list-type': listType, 'x-orch-list-map-keys': keys }: Schema): Type | undefined {
    const of = isSchema(items) ? this.of(items) : undefined
    if (of === undefined) return undefined
    const most = Number(maxItems ?? Math.floor((MAX_REQUEST - AROUND) / ((of.least ?? 0) + 1)))
    return {
      kind: 'list', of, most, least: AROUND,
      ...(listType === 'set' ? { identity: 'set' } : listType === 'map' ? { identity: keys ?? [] } : {})
    }
  }

  #map ({ maxProperties }: Schema, values: Schema): Type | undefined {
    const of = this.of(values)
    if (of === undefined) return undefined
    const most = Number(maxProperties ?? Math.floor((MAX_REQUEST - AROUND) / ((of.least ?? 0) + AROUND + AROUND_NAME)))
    return { kind: 'map', key: { ...STRING, most: MAX_REQUEST - AROUND }, of, most, least: AROUND }
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
    return { kind: 'object', fields, least }
  }
}

function text ({ format, maxLength }: Schema): Type {
  const most = maxLength === undefined ? MAX_REQUEST - AROUND : Number(maxLength)
  switch (format) {
    case 'byte': return { kind: 'bytes', most, least: AROUND }
    case 'duration': return { kind: 'duration', most, least: SHORTEST.duration }
    case 'date': case 'date-time': return { kind: 'timestamp', most: SHORTEST[format], least: SHORTEST[format] }
    default: return { ...STRING, most: maxLength === undefined ? most : most * MAX_BYTES_OF_CHARACTER, least: AROUND }
  }
}
