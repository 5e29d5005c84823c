/**
 * CEL rules have a feature gate that is off in this release (CustomResourceValidationExpressions, alpha). As upstream, writes drop
 * the rules, so that no definition promises validation that does not happen.
 */
import { eachSchema, schemasOf, someSchema } from './schema-walk.js'
import type { CustomResourceDefinitionSpec } from '../customresourcedefinitions.js'

const RULES = 'x-orch-validations'

export const hasRules = (spec: CustomResourceDefinitionSpec): boolean =>
  schemasOf(spec).some(schema => someSchema(schema, part => (part[RULES] ?? []).length > 0))

/** Removes CEL rules in place. */
export function withoutRules (spec: CustomResourceDefinitionSpec): void {
  for (const schema of schemasOf(spec)) eachSchema(schema, part => { if (part[RULES] !== undefined) delete part[RULES] })
}
