/**
 * Rules in CEL are behind a gate that is off in this release (CustomResourceValidationExpressions, alpha): they are taken out of
 * definitions that are written, as upstream, so that none promises a check that nobody makes.
 */
import { eachSchema, schemasOf, someSchema } from './schema-walk.js'
import type { CustomResourceDefinitionSpec } from '../customresourcedefinitions.js'

const RULES = 'x-orch-validations'

export const hasRules = (spec: CustomResourceDefinitionSpec): boolean =>
  schemasOf(spec).some(schema => someSchema(schema, part => (part[RULES] ?? []).length > 0))

/** Takes them away in place. */
export function withoutRules (spec: CustomResourceDefinitionSpec): void {
  for (const schema of schemasOf(spec)) eachSchema(schema, part => { if (part[RULES] !== undefined) delete part[RULES] })
}
