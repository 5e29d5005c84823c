/**
 * Validation of `allOf`, `anyOf`, `oneOf` and `not` in structural schemas: they may restrict values, but not declare
 * fields.
 */
import type { Report } from '../../../language/declare.js'
import { sameValue } from '../../../language/values.js'
import { forbidden, invalid, required } from '../../../rules/findings.js'
import type { Patterns } from '../patterns.js'
import { isSchema, type JSONSchemaProps as Schema } from '../schemas.js'

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }]
const isIntOrString = ({ anyOf }: Schema): boolean => anyOf?.length === 2 && sameValue(anyOf, INT_OR_STRING)

const EMPTY = ['type', 'title', 'description', 'x-orch-list-map-keys', 'x-orch-validations'] as const
const FALSE =
  ['nullable', 'x-orch-preserve-unknown-fields', 'x-orch-embedded-resource', 'x-orch-int-or-string'] as const
const UNDEFINED = ['additionalProperties', 'default', 'x-orch-list-type', 'x-orch-map-type'] as const

/**
 * @param mayBeEither whether `anyOf` may list the types integer and string; `first`: whether the first part of `allOf`
 * may do so
 */
export function validateLogic (
  schema: Schema, at: string, patterns: Patterns, report: Report, mayBeEither = true, first = mayBeEither
): void {
  const { not, pattern = '' } = schema
  if (!mayBeEither || !isIntOrString(schema)) {
    schema.anyOf?.forEach((part, index) => { checkNested(part, `${at}.anyOf[${index}]`, patterns, report) })
  }
  schema.allOf?.forEach((part, index) => {
    checkNested(part, `${at}.allOf[${index}]`, patterns, report, first && index === 0)
  })
  schema.oneOf?.forEach((part, index) => { checkNested(part, `${at}.oneOf[${index}]`, patterns, report) })
  if (not !== undefined) checkNested(not, `${at}.not`, patterns, report)
  if (pattern === '') return
  const { why } = patterns.of(pattern)
  if (why !== undefined) {
    invalid(report, `${at}.pattern`, pattern, `must be a valid regular expression, but isn't: ${why}`)
  }
}

function checkNested (schema: Schema, at: string, patterns: Patterns, report: Report, mayBeEither = false): void {
  validateLogic(schema, at, patterns, report, mayBeEither, false)
  if (isSchema(schema.items)) checkNested(schema.items, `${at}.items`, patterns, report)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    checkNested(property, `${at}.properties[${name}]`, patterns, report)
  }
  for (const field of EMPTY) {
    if ((schema[field] ?? '').length > 0) forbidden(report, `${at}.${field}`, 'must be empty to be structural')
  }
  for (const field of FALSE) {
    if (schema[field] === true) forbidden(report, `${at}.${field}`, 'must be false to be structural')
  }
  for (const field of UNDEFINED) {
    if (schema[field] !== undefined) forbidden(report, `${at}.${field}`, 'must be undefined to be structural')
  }
  if (Object.hasOwn(schema.properties ?? {}, 'metadata')) {
    forbidden(report, `${at}.properties[metadata]`, 'must not be specified in a nested context')
  }
}

/** Fields in `allOf`, `anyOf`, `oneOf` and `not` must be declared outside them too. */
export function validateComplete (schema: Schema, at: string, report: Report): void {
  checkJunctors(schema, schema, at, at, report)
}

function checkJunctors (
  { not, allOf = [], anyOf = [], oneOf = [] }: Schema, outside: Schema, at: string, from: string, report: Report
): void {
  if (not !== undefined) checkNamed(not, outside, at, `${from}.not`, report)
  for (const [junctor, parts] of Object.entries({ allOf, anyOf, oneOf })) {
    for (const [index, part] of parts.entries()) checkNamed(part, outside, at, `${from}.${junctor}[${index}]`, report)
  }
}

function checkNamed (part: Schema, outside: Schema | undefined, at: string, from: string, report: Report): void {
  if (outside === undefined) return required(report, at, `because it is defined in ${from}`)
  checkJunctors(part, outside, at, from, report)
  const { items, properties = {} } = outside
  if (isSchema(part.items)) {
    checkNamed(part.items, isSchema(items) ? items : undefined, `${at}.items`, `${from}.items`, report)
  }
  for (const [name, property] of Object.entries(part.properties ?? {})) {
    const named = Object.hasOwn(properties, name) ? properties[name] : undefined
    checkNamed(property, named, `${at}.properties[${name}]`, `${from}.properties[${name}]`, report)
  }
}
