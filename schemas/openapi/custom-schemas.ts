/**
 * OpenAPI schemas of custom resources. Keywords that Swagger 2.0 lacks are omitted, with all keywords that depend on
 * them, so that clients do not refuse valid objects. As upstream.
 */
import { isSchema, type JSONSchemaProps } from '../api/apiextensions/schemas.js'
import type { Plain } from '../language/types.js'
import { extension } from './extensions.js'

/** References that occur in each object. */
export interface Standard {
  /** The schema of metadata. */
  readonly metadata: Plain
  readonly types: Plain
}

const EXTENSION = 'x-orch-'
const PRESERVE = 'x-orch-preserve-unknown-fields'
/** Not in Swagger. */
const LOGIC = new Set(['allOf', 'anyOf', 'oneOf', 'not'])

/** The schema of a kind. @param swagger for Swagger 2.0 */
export function customSchema (root: JSONSchemaProps, swagger: boolean, standard: Standard): Plain {
  if (swagger && root[PRESERVE] === true) return { type: 'object' }
  const schema = converted(root, swagger, standard)
  return { ...schema, type: 'object', properties: withStandard(schema['properties'] as Plain | undefined, standard) }
}

/** Whatever an author says of these three: clients read them alike in every kind. */
const withStandard = (properties: Plain | undefined, { metadata, types }: Standard): Plain =>
  ({ ...properties, ...types, metadata })

function converted (schema: JSONSchemaProps, swagger: boolean, standard: Standard): Plain {
  const inner = (part: JSONSchemaProps): Plain => converted(part, swagger, standard)
  const described: Plain = {}
  for (const [name, value] of Object.entries(swagger ? inSwagger(schema) : schema)) {
    if (value === undefined) continue
    if (name === 'properties') {
      described[name] = Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([member, part]) => [member, inner(part)])
      )
    } else if (name === 'items' || name === 'additionalProperties') {
      described[name] = isSchema(value) ? inner(value) : value
    } else if (LOGIC.has(name)) {
      described[name] = Array.isArray(value) ? (value as JSONSchemaProps[]).map(inner) : inner(value as JSONSchemaProps)
    } else if (name.startsWith(EXTENSION)) Object.assign(described, extension(name.slice(EXTENSION.length), value))
    else described[name] = value
  }
  if (schema['x-orch-embedded-resource'] === true && !(swagger && schema[PRESERVE] === true)) {
    described['properties'] = withStandard(described['properties'] as Plain | undefined, standard)
    described['required'] = [...new Set([...described['required'] as string[] | undefined ?? [], 'kind', 'apiVersion'])]
  }
  if (schema['x-orch-int-or-string'] === true && !swagger) Object.assign(described, withTypes(schema, described))
  return described
}

/** What Swagger can say. Clients would refuse members that are not listed, so where any are allowed none are. */
function inSwagger (schema: JSONSchemaProps): Plain {
  const said = Object.fromEntries(
    Object.entries(schema).filter(([name]) => !LOGIC.has(name) && name !== 'nullable')
  )
  const { nullable, type, items, properties = {}, additionalProperties, required } = schema
  const preserves = schema[PRESERVE] === true
  const open = nullable === true || preserves
  if (open) for (const name of ['properties', 'items']) delete said[name]
  if (nullable === true || (preserves && type === 'object') || (type === 'array' && (open || items === undefined))) {
    delete said['type']
  }
  if (isSchema(additionalProperties) && additionalProperties.nullable === true) delete said['required']
  else if (required !== undefined && !open) {
    const needed = required.filter(name => !Object.hasOwn(properties, name) || properties[name]?.nullable !== true)
    if (needed.length < required.length) said['required'] = needed.length === 0 ? undefined : needed
  }
  return said
}

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }]

/** What `x-orch-int-or-string` means, for clients that do not know it: authors may have written it down. */
function withTypes ({ anyOf, allOf }: JSONSchemaProps, typed: Plain): Plain {
  if (anyOf === undefined) return isTyped(allOf?.[0]) ? {} : { anyOf: INT_OR_STRING }
  if (isTyped({ anyOf }) || isTyped(allOf?.[0])) return {}
  return { allOf: [{ anyOf: INT_OR_STRING }, ...typed['allOf'] as Plain[] | undefined ?? []] }
}

const isTyped = (schema: JSONSchemaProps | undefined): boolean => schema?.anyOf?.[0]?.type !== undefined
