/** What objects of a type keep: whether a value, such as a default, has anything that its schema does not name. */
import { isSchema, OF_EVERY_KIND, type JSONSchemaProps as Schema } from './schemas.js'

/** Without a schema nothing is kept of an object. */
export function isPruned (value: unknown, schema: Schema | undefined): boolean {
  if (typeof value !== 'object' || value === null) return true
  const items = isSchema(schema?.items) ? schema.items : undefined
  if (Array.isArray(value)) return value.every(item => isPruned(item, items))
  const { properties = {}, additionalProperties, 'x-orch-preserve-unknown-fields': keeps = false, 'x-orch-embedded-resource': embedded = false } = schema ?? {}
  return Object.entries(value).every(([name, item]) => {
    if (embedded && OF_EVERY_KIND.has(name)) return true
    if (Object.hasOwn(properties, name)) return isPruned(item, properties[name])
    if (additionalProperties !== undefined) return isPruned(item, isSchema(additionalProperties) ? additionalProperties : undefined)
    return keeps
  })
}

/** Not looked for in what logic says, where there may be none. */
export function hasUnprunedDefault (schema: Schema): boolean {
  if (schema.default !== undefined && !isPruned(schema.default, schema)) return true
  return (isSchema(schema.items) && hasUnprunedDefault(schema.items)) || Object.values(schema.properties ?? {}).some(hasUnprunedDefault)
}
