/** CEL rules on defaults: a definition is refused whose defaults break its own rules. */
import { compileRules } from '../../../custom/ruled.js'
import { validateRulesOfDefault } from '../../../custom/validations.js'
import type { Report } from '../../../language/declare.js'
import type { Steps } from '../../../steps.js'
import { isSchema, type JSONSchemaProps as Schema } from '../schemas.js'
import { hasRule } from './expressions.js'

/** In steps, for defaults that are valid otherwise. */
export function * validateRulesOfDefaults (schema: Schema, at: string, report: Report): Steps<void> {
  if (!hasRule(schema)) return
  if (schema.default !== undefined) {
    const ruled = yield * compileRules(schema)
    if (ruled !== undefined) yield * validateRulesOfDefault(ruled, schema.default, `${at}.default`, report)
  }
  const { items, additionalProperties, properties = {} } = schema
  if (isSchema(additionalProperties)) {
    yield * validateRulesOfDefaults(additionalProperties, `${at}.additionalProperties`, report)
  }
  if (isSchema(items)) yield * validateRulesOfDefaults(items, `${at}.items`, report)
  for (const [name, part] of Object.entries(properties)) {
    yield * validateRulesOfDefaults(part, `${at}.properties[${name}]`, report)
  }
}
