/** Constraints and extensions of fields: bounds, defaults, and merge strategies. */
import type { Gates } from '../gates.js'
import type { FieldFacts, Plain } from '../language/types.js'
import type { PlannedField } from '../language/plan.js'
import { structTypeOfField } from '../language/struct-types.js'
import { capitalize } from './naming.js'

/** Both prefixes: `x-orch-` for clients of the renamed API, `x-kubernetes-` for stock clients. */
export function extension (name: string, value: unknown): Plain {
  return { [`x-kubernetes-${name}`]: value, [`x-orch-${name}`]: value }
}

const BOUNDS = ['default', 'maxLength', 'minimum', 'maximum'] as const

/** Adds the constraints of a field. */
export function constrain (schema: Plain, field: FieldFacts, { enabled }: Pick<Gates, 'enabled'>): void {
  for (const bound of BOUNDS) if (field[bound] !== undefined) schema[bound] = field[bound]
  const { closed, emptySince, laterValues: later, values } = field
  if (closed !== undefined && values !== undefined && enabled('OpenAPIEnums')) {
    schema['enum'] = later !== undefined && enabled(later.since) ? [...values, ...later.values] : values
  }
  if (emptySince !== undefined && enabled(emptySince)) schema['default'] = ''
  if (field.pattern !== undefined) schema['pattern'] = field.pattern.source
}

/** Adds the merge strategies of a field. In later releases each list says its type. */
export function merge (
  schema: Plain, { field, shape }: Pick<PlannedField, 'field' | 'shape'>, gates: Pick<Gates, 'enabled'>
): void {
  const { patchStrategy, patchMergeKey } = field
  const { listType, listMapKeys } = gates.enabled('OpenApiTypesLists') && shape === 'list' ? typeOf(field) : field
  const mapType = field.mapType ?? structTypeOfField(field, gates)
  if (listType !== undefined) Object.assign(schema, extension('list-type', listType))
  if (listMapKeys !== undefined) Object.assign(schema, extension('list-map-keys', listMapKeys))
  if (mapType !== undefined) Object.assign(schema, extension('map-type', mapType))
  if (patchStrategy !== undefined) Object.assign(schema, extension('patch-strategy', patchStrategy))
  if (patchMergeKey !== undefined) Object.assign(schema, extension('patch-merge-key', patchMergeKey))
}

/** As `registry/apply/shape.ts` merges the list. */
function typeOf (
  { listType, listMapKeys, patchStrategy, patchMergeKey: key }: FieldFacts
): Pick<FieldFacts, 'listType' | 'listMapKeys'> {
  if (listType !== undefined) return { listType, ...listMapKeys === undefined ? {} : { listMapKeys } }
  if (patchStrategy?.includes('merge') !== true) return { listType: 'atomic' }
  return key === undefined ? { listType: 'set' } : { listType: 'map', listMapKeys: [key] }
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
