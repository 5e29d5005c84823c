/**
 * Whether a schema is structural: every value has its type in one place, and what logic stands beside it (`allOf`, `anyOf`, `oneOf`,
 * `not`) restricts values without saying what they are. Not looked at here: whether what the logic names is also named beside it.
 */
import type { FieldError } from '../../status.js'
import { collect } from '../../language/validation.js'
import type { Report } from '../../language/declare.js'
import { sameValue } from '../../language/values.js'
import { forbidden, invalid, required } from '../../rules/findings.js'
import { isSchema } from './schemas.js'
import type { JSONSchemaProps as Schema } from './schemas.js'

const PRESERVE = 'x-orch-preserve-unknown-fields'
const EMBEDDED = 'x-orch-embedded-resource'
const EITHER = 'x-orch-int-or-string'
const UNTYPED = { root: 'at the root', item: 'for specified array items', field: 'for specified object fields' }
type Level = keyof typeof UNTYPED

/** In the order of their words, as clients know them. */
export function validateStructural (schema: Schema, at: string, report: Report): void {
  const text = ({ type, field, detail }: FieldError) => `${field}: ${type} ${detail}`
  const found = collect(each => { check(schema, 'root', at, each) })
  for (const error of found.sort((a, b) => text(a) < text(b) ? -1 : 1)) report(error)
}

function check (schema: Schema, level: Level, at: string, report: Report): void {
  const { type = '', items, properties = {}, additionalProperties } = schema
  if (type === 'array' && items === undefined) required(report, `${at}.items`, 'must be specified')
  if (isSchema(items)) check(items, 'item', `${at}.items`, report)
  for (const [name, property] of Object.entries(properties)) check(property, 'field', `${at}.properties[${name}]`, report)
  if (additionalProperties !== undefined && level === 'root') forbidden(report, `${at}.additionalProperties`, 'must not be used at the root')
  if (isSchema(additionalProperties)) check(additionalProperties, 'field', `${at}.additionalProperties`, report)
  for (const other of [PRESERVE, EMBEDDED] as const) if (schema[EITHER] === true && schema[other] === true) invalid(report, `${at}.${other}`, true, `must be false if ${EITHER} is true`)
  checkLogic(schema, at, report)
  checkOwnType(schema, level, type, at, report)
  if (level === 'root' || schema[EMBEDDED] === true) checkKind(properties, level, at, report)
  if (schema[EMBEDDED] !== true) return
  if (additionalProperties !== undefined) forbidden(report, `${at}.additionalProperties`, `must not be used if ${EMBEDDED} is set`)
  if (schema[PRESERVE] !== true && Object.keys(properties).length === 0) required(report, `${at}.properties`, `must not be empty if ${EMBEDDED} is true without ${PRESERVE}`)
}

function checkOwnType (schema: Schema, level: Level, type: string, at: string, report: Report): void {
  if (schema[EMBEDDED] === true && type !== 'object') {
    const detail = `must be object if ${EMBEDDED} is true`
    if (type === '') required(report, `${at}.type`, detail)
    else invalid(report, `${at}.type`, type, detail)
  } else if (type === '' && schema[EITHER] !== true && schema[PRESERVE] !== true) required(report, `${at}.type`, `must not be empty ${UNTYPED[level]}`)
  if (level === 'root' && type !== '' && type !== 'object') invalid(report, `${at}.type`, type, 'must be object at the root')
}

/** What every object has may not be declared otherwise, and of the metadata names alone may be restricted. */
function checkKind ({ kind, apiVersion, metadata }: Readonly<Record<string, Schema | undefined>>, level: Level, at: string, report: Report): void {
  for (const [name, schema] of Object.entries({ kind, apiVersion })) if (schema !== undefined && schema.type !== 'string') invalid(report, `${at}.properties[${name}].type`, schema.type ?? '', 'must be string')
  if (metadata === undefined) return
  const { type, default: _, properties = {}, ...rest } = metadata
  if (type !== 'object') invalid(report, `${at}.properties[metadata].type`, type ?? '', 'must be object')
  if (level === 'root' && (Object.values(rest).some(Boolean) || !Object.keys(properties).every(name => ['name', 'generateName'].includes(name)))) {
    forbidden(report, `${at}.properties[metadata]`, 'must not specify anything other than name and generateName, but metadata is implicitly specified')
  }
}

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }]
const isIntOrString = ({ anyOf }: Schema): boolean => sameValue(anyOf, INT_OR_STRING)

/** @param mayBeEither an `anyOf` that says integer or text may do so */
function checkLogic (schema: Schema, at: string, report: Report, mayBeEither = true): void {
  const { anyOf = [], allOf = [], oneOf = [], not } = schema
  if (!mayBeEither || !isIntOrString(schema)) for (const [index, part] of anyOf.entries()) checkNested(part, `${at}.anyOf[${index}]`, report)
  for (const [index, part] of allOf.entries()) checkNested(part, `${at}.allOf[${index}]`, report, mayBeEither && index === 0)
  for (const [index, part] of oneOf.entries()) checkNested(part, `${at}.oneOf[${index}]`, report)
  if (not !== undefined) checkNested(not, `${at}.not`, report)
}

const EMPTY = ['type', 'title', 'description', 'x-orch-list-map-keys', 'x-orch-validations'] as const
const FALSE = ['nullable', PRESERVE, EMBEDDED, EITHER] as const
const UNDEFINED = ['additionalProperties', 'default', 'externalDocs', 'x-orch-list-type', 'x-orch-map-type'] as const

function checkNested (schema: Schema, at: string, report: Report, mayBeEither = false): void {
  checkLogic(schema, at, report, mayBeEither)
  if (isSchema(schema.items)) checkNested(schema.items, `${at}.items`, report)
  for (const [name, property] of Object.entries(schema.properties ?? {})) checkNested(property, `${at}.properties[${name}]`, report)
  for (const field of EMPTY) if ((schema[field] ?? '').length > 0) forbidden(report, `${at}.${field}`, 'must be empty to be structural')
  for (const field of FALSE) if (schema[field] === true) forbidden(report, `${at}.${field}`, 'must be false to be structural')
  for (const field of UNDEFINED) if (schema[field] !== undefined) forbidden(report, `${at}.${field}`, 'must be undefined to be structural')
  if (schema.properties?.['metadata'] !== undefined) forbidden(report, `${at}.properties[metadata]`, 'must not be specified in a nested context')
}
