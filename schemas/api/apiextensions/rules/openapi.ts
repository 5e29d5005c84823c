/** Validation of the schema of one version, or of all: root, keywords, structure, defaults. */
import { collect } from '../../../language/validation.js'
import type { Report } from '../../../language/declare.js'
import type { Steps } from '../../../steps.js'
import { forbidden, invalid } from '../../../rules/findings.js'
import type { CustomResourceValidation } from '../customresourcedefinitions.js'
import { validateDefaults } from './defaults.js'
import { validateRulesOfDefaults } from './default-rules.js'
import { validateRules } from './expressions.js'
import { Patterns } from '../patterns.js'
import type { Ratchets } from './ratchets.js'
import { validateSchema } from './schemas.js'
import type { JSONSchemaProps as Schema } from '../schemas.js'
import { unconvertible, validateStructural } from './structural.js'

/**
 * Fields of the root. With a status subresource, only those with a second name are allowed; error messages list these
 * names.
 */
const AT_ROOT: ReadonlyArray<readonly [field: keyof Schema, allowed?: string]> = [
  ['id'], ['$schema'], ['$ref'], ['description', 'Description'], ['type', 'Type'], ['format', 'Format'],
  ['title', 'Title'], ['default'], ['maximum', 'Maximum'], ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'], ['exclusiveMinimum', 'ExclusiveMinimum'], ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'], ['pattern', 'Pattern'], ['maxItems', 'MaxItems'], ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'], ['multipleOf', 'MultipleOf'], ['enum'], ['maxProperties'], ['minProperties'],
  ['required', 'Required'], ['items', 'Items'], ['allOf'], ['oneOf'], ['anyOf'], ['not'], ['properties', 'Properties'],
  ['additionalProperties'], ['patternProperties'], ['dependencies'], ['additionalItems'], ['definitions'],
  ['externalDocs', 'ExternalDocs'], ['example', 'Example'], ['nullable'],
  ['x-orch-preserve-unknown-fields', 'XPreserveUnknownFields'], ['x-orch-embedded-resource'], ['x-orch-int-or-string'],
  ['x-orch-list-map-keys'], ['x-orch-list-type'], ['x-orch-map-type'], ['x-orch-validations', 'XValidations']
]
const ALLOWED = AT_ROOT.flatMap(([, allowed]) => allowed ?? []).join(' ')
const THERE = 'at the root of the schema if the status subresource is enabled'
const MAY_BE_FALSE = ['additionalProperties', 'additionalItems', 'default']

const isSet = (schema: Schema, field: keyof Schema): boolean => {
  const value = schema[field]
  if (value === undefined) return false
  return MAY_BE_FALSE.includes(field) ||
    (value !== '' && value !== false && !(Array.isArray(value) && value.length === 0))
}

/** The schema of the status is extracted as a property, so the root may have no keywords that would be lost. */
function validateRoot (schema: Schema, at: string, report: Report): void {
  for (const [field, allowed] of AT_ROOT) {
    if (!isSet(schema, field)) continue
    if (allowed === undefined) return invalid(report, at, field, `only [${ALLOWED}] fields are allowed ${THERE}`)
    if (field === 'type' && schema.type !== 'object') {
      return invalid(report, `${at}.type`, schema.type, `only "object" is allowed as the type ${THERE}`)
    }
  }
}

/** Runs in steps. @param hasStatus whether there is a status subresource */
export function * validateValidation (
  validation: CustomResourceValidation | undefined, hasStatus: boolean, at: string, ratchets: Ratchets,
  patterns: Patterns, report: Report
): Steps<void> {
  const schema = validation?.openAPIV3Schema
  if (schema === undefined) return
  const field = `${at}.openAPIV3Schema`
  const findings = collect(note => {
    if (hasStatus) validateRoot(schema, field, note)
    if (schema.nullable === true) forbidden(note, `${field}.nullable`, 'nullable cannot be true at the root')
    validateSchema(schema, field, ratchets, note)
  })
  findings.forEach(report)
  if (!ratchets.structural) return
  yield
  const why = unconvertible(schema)
  if (why !== undefined) {
    if (findings.length === 0) invalid(report, field, '', why)
    return
  }
  yield
  const wrong = collect(note => { validateStructural(schema, field, patterns, note) })
  wrong.forEach(report)
  yield
  if (wrong.length > 0) return
  const defaults = collect(note => { validateDefaults(schema, field, ratchets, patterns, note) })
  defaults.forEach(report)
  if (!ratchets.rules || defaults.length > 0) return
  let broken = false
  yield * validateRulesOfDefaults(schema, field, error => {
    broken = true
    report(error)
  })
  if (broken) return
  yield * validateRules(schema, field, report, {
    isKept: ratchets.isKept(schema), wrong: findings.map(error => error.field)
  })
}
