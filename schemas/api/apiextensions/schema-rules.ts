/** What a schema of a CustomResourceDefinition may say. Whether it is structural is looked at where nothing of this is wrong. */
import type { Report } from '../../language/declare.js'
import { forbidden, invalid, notSupported, required } from '../../rules/findings.js'
import { isSchema } from './schemas.js'
import type { JSONSchemaProps as Schema } from './schemas.js'
import { validateListType, validateMapType } from './schema-list-rules.js'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const OF_EVERY_KIND = ['metadata', 'kind', 'apiVersion']
/** Keywords of JSON Schema that are never followed. */
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const

/** The schemas within it and their paths; what depends on properties is refused as a whole. */
function * within (schema: Schema, at: string): Generator<readonly [part: Schema, at: string, property?: string]> {
  const { additionalProperties, properties = {}, not, allOf = [], oneOf = [], anyOf = [], items } = schema
  if (isSchema(additionalProperties)) yield [additionalProperties, `${at}.additionalProperties`]
  for (const [name, part] of Object.entries(properties)) yield [part, `${at}.properties[${name}]`, name]
  if (not !== undefined) yield [not, `${at}.not`]
  for (const [junctor, parts] of Object.entries({ allOf, oneOf, anyOf })) for (const [index, part] of parts.entries()) yield [part, `${at}.${junctor}[${index}]`]
  if (isSchema(items)) yield [items, `${at}.items`]
}

/** @param noDefault why there may be no default, if so */
export function validateSchema (schema: Schema, at: string, report: Report, isRoot = true, noDefault?: string): void {
  const { type, additionalProperties, properties = {}, items } = schema
  if (type !== '' && type !== undefined && !TYPES.includes(type)) notSupported(report, `${at}.type`, type, TYPES)
  if (schema.default !== undefined && noDefault !== undefined) forbidden(report, `${at}.default`, `must not be set ${noDefault}`)
  for (const field of UNSUPPORTED) if (schema[field] !== undefined && schema[field] !== '') forbidden(report, `${at}.${field}`, `${field} is not supported`)
  if (type === 'null') forbidden(report, `${at}.type`, 'type cannot be set to null, use nullable as an alternative')
  if (Array.isArray(items)) forbidden(report, `${at}.items`, 'items must be a schema object and not an array')
  if (schema.uniqueItems === true) forbidden(report, `${at}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic')
  if (additionalProperties !== undefined && additionalProperties !== true && Object.keys(properties).length > 0) forbidden(report, `${at}.additionalProperties`, 'additionalProperties and properties are mutual exclusive')
  for (const [part, path, property] of within(schema, at)) {
    validateSchema(part, path, report, false, isRoot && property !== undefined && OF_EVERY_KIND.includes(property) ? `in top-level ${property}` : noDefault)
  }
  if (schema['x-orch-preserve-unknown-fields'] === false) invalid(report, `${at}.x-orch-preserve-unknown-fields`, false, 'must be true or undefined')
  validateMapType(schema, at, report)
  validateListType(schema, at, report)
  for (const [index, { rule = '', message = '' }] of (schema['x-orch-validations'] ?? []).entries()) {
    const field = `${at}.x-orch-validations[${index}]`
    if (rule.trim() === '') required(report, `${field}.rule`, 'rule is not specified')
    else if (message !== '' && message.trim() === '') invalid(report, `${field}.message`, message, 'message must be non-empty if specified')
    else if (/[\n\r]/.test(message.trim())) invalid(report, `${field}.message`, message, 'message must not contain line breaks')
    else if (/[\n\r]/.test(rule.trim()) && message === '') required(report, `${field}.message`, 'message must be specified if rule contains line breaks')
  }
}
