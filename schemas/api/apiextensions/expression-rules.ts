/**
 * Rules in CEL are behind a gate that is off in this release (CustomResourceValidationExpressions, alpha): they are taken out of
 * definitions that are written, as convention, so that none promises a check that nobody makes.
 */
import { isSchema } from './schemas.js'
import type { JSONSchemaProps as Schema } from './schemas.js'
import { schemasOf, someSchema, within } from './schema-walk.js'
import type { CustomResourceDefinitionSpec } from './customresourcedefinitions.js'

const RULES = 'x-orch-validations'

export const hasRules = (spec: CustomResourceDefinitionSpec): boolean =>
  schemasOf(spec).some(schema => someSchema(schema, part => (part[RULES] ?? []).length > 0))

/** Takes them away in place. */
export function withoutRules (spec: CustomResourceDefinitionSpec): void {
  for (const schema of schemasOf(spec)) take(schema)
}

function take (schema: Schema): void {
  if (schema[RULES] !== undefined) delete schema[RULES]
  for (const [part] of within(schema)) take(part)
  const { patternProperties = {}, additionalItems } = schema
  for (const part of Object.values(patternProperties)) take(part)
  if (isSchema(additionalItems)) take(additionalItems)
}
