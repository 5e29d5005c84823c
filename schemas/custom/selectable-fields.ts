/**
 * Selectable fields of a custom resource. Their values are read from the stored form, with the defaults of the schema
 * of their version, so that objects need no conversion to be selected.
 */
import type { SelectableField } from '../api/apiextensions/customresourcedefinitions.js'
import { isSchema, OF_EVERY_KIND, type JSONSchemaProps } from '../api/apiextensions/schemas.js'
import type { ApiObject } from '../meta/api-object.js'
import type { Representation } from '../resource.js'

type Fields = NonNullable<Representation['selectableFields']>
type Reader = Fields[string]

interface Step {
  readonly name: string
  /** The value of an absent member, and of one that is null and may not be. */
  readonly preset: unknown
  readonly nullable: boolean
}

/** Versions of a definition share the functions of fields that they read alike. */
export class SelectableFields {
  readonly #readers = new Map<string, Reader>()

  /** The fields of a version, by their labels. */
  of (
    fields: readonly SelectableField[], schema: JSONSchemaProps,
    type: { readonly apiVersion: string, readonly kind: string }
  ): Fields {
    return Object.fromEntries(fields.map(({ jsonPath }) => {
      const label = jsonPath.slice(1)
      if (OF_EVERY_KIND.has(label)) return [label, () => label === 'kind' ? type.kind : type.apiVersion]
      return [label, this.#reader(stepsOf(label, schema))]
    }))
  }

  #reader (steps: readonly Step[]): Reader {
    const id = JSON.stringify(steps)
    let reader = this.#readers.get(id)
    if (reader === undefined) this.#readers.set(id, reader = object => valueOf(object, steps))
    return reader
  }
}

function stepsOf (label: string, root: JSONSchemaProps): Step[] {
  let schema: JSONSchemaProps = root
  return label.split('.').map(name => {
    const { properties, additionalProperties } = schema
    const next: unknown = properties === undefined
      ? additionalProperties
      : Object.hasOwn(properties, name) ? properties[name] : undefined
    schema = isSchema(next) ? next : {}
    return {
      name, preset: properties === undefined ? undefined : schema.default, nullable: schema.nullable === true
    }
  })
}

function valueOf (object: ApiObject, steps: readonly Step[]): string {
  let value: unknown = object
  for (const { name, preset, nullable } of steps) {
    if (typeof value !== 'object' || value === null) return ''
    const own = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
    value = own === undefined || (own === null && !nullable) ? preset : own
  }
  return typeof value === 'string' ? value : typeof value === 'object' || value === undefined ? '' : String(value)
}
