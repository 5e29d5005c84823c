/** The table cells of an object by their column headings. */
import { decode } from '../../../schemas/language/decode.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import type { Cell } from '../../../schemas/columns.js'
import type { Representation, ResourceType } from '../../../schemas/resource.js'
import { DEFAULT_GATES, featureGates } from '../../../schemas/gates.js'
import { tableRow, tabularOf } from '../../../schemas/table.js'

export const NOW = Date.parse('2022-06-01T12:00:00Z')

/** A time that many minutes ago. */
export const minutesAgo = (minutes: number): string =>
  new Date(NOW - minutes * 60_000).toISOString().replace('.000', '')

interface Sent { readonly metadata?: object, readonly [name: string]: unknown }

/** An object of a client, with its defaults; a day old unless it says otherwise. */
export function made (representation: Representation, more: Sent): ApiObject {
  const metadata = {
    name: 'web',
    creationTimestamp: minutesAgo(24 * 60),
    ...(representation.namespaced ? { namespace: 'shop' } : {}),
    ...more.metadata
  }
  const { object } = decode(representation.message, { ...more, metadata })
  applyDefaults(representation.message, object)
  return object
}

/** What a server has that emulates release 1.36. */
export const LATER = featureGates({}, { release: '1.36' })

export function cellsOf (type: ResourceType | Representation, more: Sent, gates = DEFAULT_GATES): Record<string, Cell> {
  const representation = 'stored' in type ? type.stored : type
  const tabular = tabularOf(representation, gates)
  const { cells } = tableRow(tabular, made(representation, more), NOW)
  return Object.fromEntries((tabular.columns ?? []).map(({ name }, index) => [name, cells[index] ?? null]))
}
