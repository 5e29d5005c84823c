/** Validation of the keywords of a schema. `structural.ts` validates its structure. */
import type { Report } from '../../../language/declare.js'
import { forbidden, invalid, notSupported } from '../../../rules/findings.js'
import { TYPES, OF_EVERY_KIND, type JSONSchemaProps as Schema } from '../schemas.js'
import type { Ratchets } from './ratchets.js'
import { validateListType, validateMapType } from './schema-lists.js'
import { eachWithin } from './schema-walk.js'
import { validateRule } from './validation-rule.js'

const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const

const isSaid = (schema: Schema, field: typeof UNSUPPORTED[number]): boolean => {
  const value = schema[field]
  if (field === 'patternProperties' || field === 'definitions') return Object.keys(value ?? {}).length > 0
  return field === 'id' ? value !== undefined && value !== '' : value !== undefined
}

interface Place {
  /** Why a default is forbidden, if it is. */
  readonly noDefault?: string
  /** Within metadata, kind or apiVersion of an object. */
  readonly inMeta?: boolean
  readonly isRoot?: boolean
}

const ROOT: Place = { isRoot: true }
const INNER: Place = {}

export function validateSchema (schema: Schema, at: string, ratchets: Ratchets, report: Report, place = ROOT): void {
  const { additionalProperties, properties } = schema
  validateKeywords(schema, at, ratchets, place, report)
  if (schema.uniqueItems === true) {
    forbidden(
      report, `${at}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    )
  }
  if (additionalProperties !== undefined && additionalProperties !== true && properties !== undefined &&
    Object.keys(properties).length > 0) {
    forbidden(report, `${at}.additionalProperties`, 'additionalProperties and properties are mutual exclusive')
  }
  const inner = place.isRoot === true ? INNER : place
  eachWithin(schema, at, (part, path, property) => {
    validateSchema(part, path, ratchets, report, property === undefined
      ? ofOther(part, schema, inner)
      : ofProperty(property, schema, place, inner))
  })
  if (schema['x-orch-preserve-unknown-fields'] === false) {
    invalid(report, `${at}.x-orch-preserve-unknown-fields`, false, 'must be true or undefined')
  }
  validateMapType(schema, at, report)
  validateListType(schema, at, ratchets, report)
  schema['x-orch-validations']?.forEach((rule, index) => {
    validateRule(rule, schema, `${at}.x-orch-validations[${index}]`, report)
  })
}

/** In a map within metadata, pruning could not distinguish defaults from other values. */
function ofOther (part: Schema, { additionalProperties }: Schema, inner: Place): Place {
  return part === additionalProperties && inner.inMeta === true
    ? { ...inner, noDefault: 'inside additionalProperties applying to object metadata' }
    : inner
}

function ofProperty (property: string, schema: Schema, { isRoot = false }: Place, inner: Place): Place {
  if (!(isRoot || schema['x-orch-embedded-resource'] === true) || !OF_EVERY_KIND.has(property)) return inner
  return { ...inner, inMeta: true, ...isRoot ? { noDefault: `in top-level ${property}` } : {} }
}

function validateKeywords (
  schema: Schema, at: string, ratchets: Ratchets, { noDefault, inMeta = false }: Place, report: Report
): void {
  const { type = '' } = schema
  if (ratchets.knownTypes && type !== '' && !TYPES.includes(type)) notSupported(report, `${at}.type`, type, TYPES)
  if (schema.default !== undefined && noDefault !== undefined) {
    forbidden(report, `${at}.default`, `must not be set ${noDefault}`)
  }
  for (const field of UNSUPPORTED) {
    if (schema[field] !== undefined &&
    isSaid(schema, field)) forbidden(report, `${at}.${field}`, `${field} is not supported`)
  }
  if (type === 'null') forbidden(report, `${at}.type`, 'type cannot be set to null, use nullable as an alternative')
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    forbidden(report, `${at}.items`, 'items must be a schema object and not an array')
  }
  if (inMeta && schema['x-orch-embedded-resource'] === true) {
    forbidden(report, `${at}.x-orch-embedded-resource`, 'must not be used inside of resource meta')
  }
}
