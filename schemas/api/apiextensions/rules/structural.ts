/**
 * Whether a schema is structural: each value has its type declared in one place, and `allOf`, `anyOf`, `oneOf` and
 * `not` only restrict values (`logic.ts`).
 */
import type { Report } from '../../../language/declare.js'
import { validateComplete, validateLogic } from './logic.js'
import type { Patterns } from '../patterns.js'
import { forbidden, invalid, required } from '../../../rules/findings.js'
import { isSchema, type JSONSchemaProps as Schema } from '../schemas.js'
import { someSchema } from './schema-walk.js'

const PRESERVE = 'x-orch-preserve-unknown-fields'
const EMBEDDED = 'x-orch-embedded-resource'
const EITHER = 'x-orch-int-or-string'
const UNTYPED = { root: 'at the root', item: 'for specified array items', field: 'for specified object fields' }
type Level = keyof typeof UNTYPED

const NONE: Readonly<Record<string, Schema>> = {}
const UNCONVERTIBLE =
  ['id', '$schema', '$ref', 'patternProperties', 'dependencies', 'additionalItems', 'definitions'] as const
const isSet = (value: unknown): boolean => value !== undefined && value !== '' && value !== false &&
  !(Array.isArray(value) && value.length === 0)

/** Upstream's message for the first keyword that structural schemas do not have, if any. */
export function unconvertible (schema: Schema): string | undefined {
  let why: string | undefined
  someSchema(schema, part => (why ??= unknownIn(part)) !== undefined)
  return why
}

function unknownIn (schema: Schema): string | undefined {
  const unknown = UNCONVERTIBLE.find(field => schema[field] !== undefined && schema[field] !== '')
  if (unknown !== undefined) return `OpenAPIV3Schema '${unknown === '$schema' ? 'schema' : unknown}' is not supported`
  if (schema[PRESERVE] === false) return `internal error: '${PRESERVE}' must be true or undefined`
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  }
  return undefined
}

export const isConvertible = (schema: Schema): boolean => unconvertible(schema) === undefined

export function validateStructural (schema: Schema, at: string, patterns: Patterns, report: Report): void {
  check(schema, 'root', at, patterns, report)
  validateComplete(schema, at, report)
}

function check (schema: Schema, level: Level, at: string, patterns: Patterns, report: Report): void {
  const { type = '', items, properties = NONE, additionalProperties } = schema
  if (type === 'array' && items === undefined) required(report, `${at}.items`, 'must be specified')
  if (isSchema(items)) check(items, 'item', `${at}.items`, patterns, report)
  if (properties !== NONE) {
    for (const [name, property] of Object.entries(properties)) {
      check(property, 'field', `${at}.properties[${name}]`, patterns, report)
    }
  }
  if (additionalProperties !== undefined && level === 'root') {
    forbidden(report, `${at}.additionalProperties`, 'must not be used at the root')
  }
  if (isSchema(additionalProperties)) {
    check(additionalProperties, 'field', `${at}.additionalProperties`, patterns, report)
  }
  if (schema[EITHER] === true) {
    for (const other of [PRESERVE, EMBEDDED] as const) {
      if (schema[other] === true) invalid(report, `${at}.${other}`, true, `must be false if ${EITHER} is true`)
    }
  }
  validateLogic(schema, at, patterns, report)
  checkOwnType(schema, level, type, at, report)
  if (level === 'root' || schema[EMBEDDED] === true) checkKind(properties, level, at, report)
  if (schema[EMBEDDED] !== true) return
  if (additionalProperties !== undefined) {
    forbidden(report, `${at}.additionalProperties`, `must not be used if ${EMBEDDED} is set`)
  }
  if (schema[PRESERVE] !== true && Object.keys(properties).length === 0) {
    required(report, `${at}.properties`, `must not be empty if ${EMBEDDED} is true without ${PRESERVE}`)
  }
}

function checkOwnType (schema: Schema, level: Level, type: string, at: string, report: Report): void {
  if (schema[EMBEDDED] === true && type !== 'object') {
    const detail = `must be object if ${EMBEDDED} is true`
    if (type === '') required(report, `${at}.type`, detail)
    else invalid(report, `${at}.type`, type, detail)
  } else if (type === '' && schema[EITHER] !== true && schema[PRESERVE] !== true) {
    required(report, `${at}.type`, `must not be empty ${UNTYPED[level]}`)
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    invalid(report, `${at}.type`, type, 'must be object at the root')
  }
}

/**
 * kind and apiVersion are strings, metadata is an object, and a schema may restrict only names in the metadata of the
 * root.
 */
function checkKind (
  { kind, apiVersion, metadata }: Readonly<Record<string, Schema | undefined>>, level: Level, at: string, report: Report
): void {
  for (const [name, schema] of Object.entries({ kind, apiVersion })) {
    if (schema !== undefined &&
    schema.type !== 'string') invalid(report, `${at}.properties[${name}].type`, schema.type ?? '', 'must be string')
  }
  if (metadata === undefined) return
  const { type, default: _default, externalDocs: _docs, example: _example, properties = {}, ...rest } = metadata
  if (type !== 'object') invalid(report, `${at}.properties[metadata].type`, type ?? '', 'must be object')
  if (level === 'root' && (Object.values(rest).some(isSet) ||
    !Object.keys(properties).every(name => ['name', 'generateName'].includes(name)))) {
    forbidden(
      report, `${at}.properties[metadata]`,
      'must not specify anything other than name and generateName, but metadata is implicitly specified'
    )
  }
}
