/** Going through schemas, whatever form their parts stand in. */
import { isSchema } from './schemas.js'
import type { JSONSchemaProps as Schema } from './schemas.js'
import type { CustomResourceDefinitionSpec } from './customresourcedefinitions.js'

type Part = readonly [part: Schema, at: string, property?: string]

function * listed (parts: readonly Schema[], at: string): Generator<Part> {
  for (const [index, part] of parts.entries()) yield [part, `${at}[${index}]`]
}

function * named (parts: Readonly<Record<string, unknown>>, at: string): Generator<Part> {
  for (const [name, part] of Object.entries(parts)) if (isSchema(part)) yield [part, `${at}[${name}]`, name]
}

/** The schemas within one and their paths, in the order in which they are judged; `property` names those of properties. */
export function * within (schema: Schema, at = ''): Generator<Part> {
  const { additionalProperties, properties = {}, not, allOf = [], oneOf = [], anyOf = [], definitions = {}, items, dependencies = {} } = schema
  if (isSchema(additionalProperties)) yield [additionalProperties, `${at}.additionalProperties`]
  yield * named(properties, `${at}.properties`)
  if (not !== undefined) yield [not, `${at}.not`]
  yield * listed(allOf, `${at}.allOf`)
  yield * listed(oneOf, `${at}.oneOf`)
  yield * listed(anyOf, `${at}.anyOf`)
  for (const [part, path] of named(definitions, `${at}.definitions`)) yield [part, path]
  if (isSchema(items)) yield [items, `${at}.items`]
  else if (Array.isArray(items)) yield * listed(items, `${at}.items`)
  for (const [part, path] of named(dependencies, `${at}.dependencies`)) yield [part, path]
}

/** Whether it says so of any schema in it, or of itself. */
export function someSchema (schema: Schema, says: (part: Schema) => boolean): boolean {
  if (says(schema)) return true
  for (const [part] of within(schema)) if (someSchema(part, says)) return true
  const { patternProperties = {}, additionalItems } = schema
  return Object.values(patternProperties).some(part => someSchema(part, says)) || (isSchema(additionalItems) && someSchema(additionalItems, says))
}

/** The schemas of all versions. */
export const schemasOf = ({ versions = [] }: CustomResourceDefinitionSpec): Schema[] => versions.flatMap(({ schema }) => schema?.openAPIV3Schema ?? [])
