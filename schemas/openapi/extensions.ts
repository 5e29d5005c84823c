/** Constraints and extensions of fields: bounds, defaults, and merge strategies. */
import type { FieldFacts, Plain } from '../language/types.js'
import type { PlannedField } from '../language/plan.js'
import { capitalize } from './naming.js'

/** Both prefixes: `x-orch-` for clients of the renamed API, `x-kubernetes-` for stock clients. */
export function extension (name: string, value: unknown): Plain {
  return { [`x-kubernetes-${name}`]: value, [`x-orch-${name}`]: value }
}

const BOUNDS = ['default', 'maxLength', 'minimum', 'maximum'] as const

/** Adds the constraints of a field. */
export function constrain (schema: Plain, field: FieldFacts, enums: boolean): void {
  for (const bound of BOUNDS) if (field[bound] !== undefined) schema[bound] = field[bound]
  if (enums && field.closed !== undefined && field.values !== undefined) schema['enum'] = field.values
  if (field.pattern !== undefined) schema['pattern'] = field.pattern.source
}

/** Adds the merge strategies of a field. */
export function merge (
  schema: Plain, { listType, listMapKeys, mapType, structType, patchStrategy, patchMergeKey }: FieldFacts
): void {
  if (listType !== undefined) Object.assign(schema, extension('list-type', listType))
  if (listMapKeys !== undefined) Object.assign(schema, extension('list-map-keys', listMapKeys))
  if ((mapType ?? structType) !== undefined) Object.assign(schema, extension('map-type', mapType ?? structType))
  if (patchStrategy !== undefined) Object.assign(schema, extension('patch-strategy', patchStrategy))
  if (patchMergeKey !== undefined) Object.assign(schema, extension('patch-merge-key', patchMergeKey))
}

/** For messages with a discriminator. */
export function unions (fields: readonly PlannedField[]): Plain {
  const discriminator = fields.find(({ field }) => field.discriminator === true)
  if (discriminator === undefined) return {}
  const others = fields.filter(field => field !== discriminator).map(({ name }) => [name, capitalize(name)])
  return extension(
    'unions', [{ discriminator: discriminator.name, 'fields-to-discriminateBy': Object.fromEntries(others) as Plain }]
  )
}
