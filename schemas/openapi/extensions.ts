/** What documents say of fields beyond their types: bounds, defaults, and how lists, maps and structures merge. */
import type { FieldFacts, Plain } from '../language/types.js'
import type { PlannedField } from '../language/plan.js'
import { capital } from './naming.js'

/** Clients of the renamed interface look for `x-orch-`, stock clients for `x-kubernetes-`. */
export function extension (name: string, value: unknown): Plain {
  return { [`x-kubernetes-${name}`]: value, [`x-orch-${name}`]: value }
}

const BOUNDS = ['default', 'maxLength', 'minimum', 'maximum'] as const

/** Puts into the schema of a field what it has to keep to. */
export function constrain (schema: Plain, field: FieldFacts): void {
  for (const bound of BOUNDS) if (field[bound] !== undefined) schema[bound] = field[bound]
  if (field.closed !== undefined && field.values !== undefined) schema['enum'] = field.values
  if (field.pattern !== undefined) schema['pattern'] = field.pattern.source
}

/** And how it merges. */
export function merge (schema: Plain, { listType, listMapKeys, mapType, structType, patchStrategy, patchMergeKey }: FieldFacts): void {
  if (listType !== undefined) Object.assign(schema, extension('list-type', listType))
  if (listMapKeys !== undefined) Object.assign(schema, extension('list-map-keys', listMapKeys))
  if ((mapType ?? structType) !== undefined) Object.assign(schema, extension('map-type', mapType ?? structType))
  if (patchStrategy !== undefined) Object.assign(schema, extension('patch-strategy', patchStrategy))
  if (patchMergeKey !== undefined) Object.assign(schema, extension('patch-merge-key', patchMergeKey))
}

/** Of a message of which one field says which of the others counts. */
export function unions (fields: readonly PlannedField[]): Plain {
  const discriminator = fields.find(({ field }) => field.discriminator === true)
  if (discriminator === undefined) return {}
  const others = fields.filter(field => field !== discriminator).map(({ name }) => [name, capital(name)])
  return extension('unions', [{ discriminator: discriminator.name, 'fields-to-discriminateBy': Object.fromEntries(others) as Plain }])
}
