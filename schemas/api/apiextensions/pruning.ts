/** Whether a value, such as a default, has fields that pruning would remove. */
import { isSchema, OF_EVERY_KIND, type JSONSchemaProps as Schema } from './schemas.js'

/** Without a schema, pruning removes every field. */
export function isPruned (value: unknown, schema: Schema | undefined): boolean {
  if (typeof value !== 'object' || value === null) return true
  const { items: declared, properties = {}, additionalProperties } = schema ?? {}
  const { 'x-orch-preserve-unknown-fields': keeps = false, 'x-orch-embedded-resource': embedded = false } = schema ?? {}
  if (Array.isArray(value)) {
    if (!isSchema(declared)) return keeps || value.every(item => isPruned(item, undefined))
    const items = keeps ? { ...declared, 'x-orch-preserve-unknown-fields': true } : declared
    return value.every(item => isPruned(item, items))
  }
  return Object.entries(value).every(([name, item]) => {
    if (embedded && OF_EVERY_KIND.has(name)) return true
    if (Object.hasOwn(properties, name)) return isPruned(item, properties[name])
    if (additionalProperties !== undefined) {
      return isPruned(item, isSchema(additionalProperties) ? additionalProperties : undefined)
    }
    return keeps
  })
}

/** Skips `allOf`, `anyOf`, `oneOf` and `not`, where defaults are forbidden. */
export function hasUnprunedDefault (schema: Schema): boolean {
  if (schema.default !== undefined && !isPruned(schema.default, schema)) return true
  return (isSchema(schema.items) && hasUnprunedDefault(schema.items)) ||
    Object.values(schema.properties ?? {}).some(hasUnprunedDefault)
}
