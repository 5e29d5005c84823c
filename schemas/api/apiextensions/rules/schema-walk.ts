/** Traversal of schemas. A definition has tens of thousands, so it allocates nothing for schemas without parts. */
import { isSchema, type JSONSchemaProps as Schema } from '../schemas.js'
import type { CustomResourceDefinitionSpec } from '../customresourcedefinitions.js'

/** @param property name of the property, for schemas of properties */
type Visit = (part: Schema, at: string, property?: string) => void

function eachOf (parts: readonly Schema[] | undefined, name: string, at: string, visit: Visit): void {
  if (parts === undefined) return
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]
    if (part !== undefined) visit(part, `${at}.${name}[${index}]`)
  }
}

function eachNamed (
  parts: Readonly<Record<string, unknown>> | undefined, name: string, at: string, visit: Visit
): void {
  if (parts === undefined) return
  for (const key of Object.keys(parts)) {
    const part = parts[key]
    if (isSchema(part)) visit(part, `${at}.${name}[${key}]`, name === 'properties' ? key : undefined)
  }
}

/** Visits the direct parts of a schema in the order of validation. */
export function eachWithin (schema: Schema, at: string, visit: Visit): void {
  const { additionalProperties, items } = schema
  if (isSchema(additionalProperties)) visit(additionalProperties, `${at}.additionalProperties`)
  eachNamed(schema.properties, 'properties', at, visit)
  if (schema.not !== undefined) visit(schema.not, `${at}.not`)
  eachOf(schema.allOf, 'allOf', at, visit)
  eachOf(schema.oneOf, 'oneOf', at, visit)
  eachOf(schema.anyOf, 'anyOf', at, visit)
  eachNamed(schema.definitions, 'definitions', at, visit)
  if (isSchema(items)) visit(items, `${at}.items`)
  else if (items !== undefined) eachOf(items, 'items', at, visit)
  eachNamed(schema.dependencies, 'dependencies', at, visit)
}

/** Visits a schema and all its parts, including unsupported keywords. */
export function eachSchema (schema: Schema, visit: (part: Schema) => void): void {
  visit(schema)
  const inner = (part: Schema): void => { eachSchema(part, visit) }
  eachWithin(schema, '', inner)
  eachNamed(schema.patternProperties, 'patternProperties', '', inner)
  if (isSchema(schema.additionalItems)) inner(schema.additionalItems)
}

/** Whether the predicate holds for the schema or any part. */
export function someSchema (schema: Schema, says: (part: Schema) => boolean): boolean {
  let said = false
  eachSchema(schema, part => { said ||= says(part) })
  return said
}

export const schemasOf = ({ versions = [] }: CustomResourceDefinitionSpec): Schema[] =>
  versions.flatMap(({ schema }) => schema?.openAPIV3Schema ?? [])
