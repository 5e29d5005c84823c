/** Validation of defaults in structural schemas: valid by the schema, and without fields that pruning would remove. */
import type { Report } from '../../../language/declare.js'
import { invalid } from '../../../rules/findings.js'
import { describe, listed } from '../../../status.js'
import { embeddedFindings } from '../embedded-objects.js'
import type { Patterns } from '../patterns.js'
import { isPruned } from '../pruning.js'
import { isSchema, OF_EVERY_KIND, type JSONSchemaProps as Schema } from '../schemas.js'
import { ValueValidator } from '../schema-values.js'
import type { Ratchets } from './ratchets.js'

/** Fields of the object in which a default is validated. */
const AROUND = { apiVersion: 'validation/v1', kind: 'Validation' }

/** The place of a default: the schema of its object, the object around it, and whether it is in `OF_EVERY_KIND`. */
interface Place {
  readonly root: Schema
  readonly around: (value: unknown) => Record<string, unknown>
  readonly inMeta: boolean
}

const inside = (name: string, { around }: Place) => (value: unknown) => around(Object.fromEntries([[name, value]]))
const ofObject = (root: Schema): Place =>
  ({ root, around: members => ({ ...AROUND, ...members as object }), inMeta: false })

export function validateDefaults (
  schema: Schema, at: string, { prunedDefaults, later }: Pick<Ratchets, 'prunedDefaults' | 'later'>, patterns: Patterns,
  report: Report
): void {
  check(schema, at, ofObject(schema), prunedDefaults, new ValueValidator(patterns, false, later), report, true)
}

function check (
  schema: Schema, at: string, outer: Place, pruned: boolean, validator: ValueValidator, report: Report,
  isObject = schema['x-orch-embedded-resource'] === true
): void {
  const place = isObject ? ofObject(schema) : outer
  if (schema.default !== undefined) {
    validateDefault(schema, schema.default, `${at}.default`, place, pruned, validator, report)
  }
  if (isSchema(schema.items)) {
    check(schema.items, `${at}.items`, { ...place, around: value => place.around([value]) }, pruned, validator, report)
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const inMeta = place.inMeta || (isObject && OF_EVERY_KIND.has(name))
    check(
      property, `${at}.properties[${name}]`, { ...place, around: inside(name, place), inMeta }, pruned, validator,
      report
    )
  }
}

function validateDefault (
  schema: Schema, value: unknown, at: string, { root, around, inMeta }: Place, pruned: boolean,
  validator: ValueValidator, report: Report
): void {
  if (!inMeta && pruned && !isPruned(value, schema)) invalid(report, at, value, 'must not have unknown fields')
  const findings = inMeta ? embeddedFindings(around(value), root, '', true) : embeddedFindings(value, schema, at)
  if (findings.length === 0) return validator.validate(schema, value, at, report)
  if (!inMeta) return findings.forEach(report)
  const lines = findings.map(error => `${error.field}: ${describe(error)}`)
  invalid(report, at, value, `must result in valid metadata: ${listed(lines)}`)
}
