/** Rows of Tables: cells, and as much of the object as the client asks for. */
import { CellBudget } from '../../schemas/cell-budget.js'
import { partialMetadata } from '../../schemas/codec/encodings.js'
import { agesAt, type Ages } from '../../schemas/meta/duration.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { tableColumns, tableRow, type Tabular } from '../../schemas/table.js'
import { quote } from '../../schemas/quote.js'
import { badRequest } from '../../schemas/status.js'
import type { Steps } from '../../schemas/steps.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { StoredView } from '../stored-view.js'
import type { View } from '../view.js'
import { bytesOf } from './format.js'
import { headOfMetadata } from './metadata.js'

export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** @throws StatusError 400 */
export function includeObject (query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? ''
  if (value === '' || value === 'Metadata') return 'Metadata'
  if (value === 'None' || value === 'Object') return value
  const why = `Invalid value: ${quote(value)}: must be 'Metadata', 'Object', 'None', or empty`
  throw badRequest(`Unable to convert to Table as requested: includeObject: ${why}`)
}

export interface Asked {
  readonly include: IncludeObject
  /** The apiVersion of the Table: `meta.orch.io/v1`. */
  readonly version: string
}

/** What a row shows, beside its cells. */
interface RowForm extends Asked {
  readonly ages: Ages
  /** Of all rows of the answer. */
  readonly budget: CellBudget
}

/** Of rows of stored objects. */
export interface StoredRowForm extends RowForm {
  /** Of a row. */
  readonly memory: (bytes: number) => Buffer
  /** What is before the metadata of its object. */
  readonly head: Uint8Array
}

export const rowForm = (
  { store: { clock } }: Pick<StoredView, 'store'>, asked: Asked, rows?: number,
  memory: StoredRowForm['memory'] = Buffer.allocUnsafe
): StoredRowForm => ({
  ...asked, memory, ages: agesAt(clock.wall()), budget: new CellBudget(rows), head: headOfMetadata(asked.version)
})

/** Memory for one row after the other: new one for each, of several kilobytes, would be collected with everything. */
export function reused (): StoredRowForm['memory'] {
  let room = Buffer.alloc(0)
  return bytes => {
    if (bytes > room.length) room = Buffer.allocUnsafeSlow(2 * bytes)
    return room.subarray(0, bytes)
  }
}

const OBJECT = bytesOf(',"object":')
const NONE = bytesOf('null')
const END = bytesOf('}')
const NEWLINE_LENGTH = 1

/** One row as compact JSON, with the object as requested; null for None, as upstream. */
export function * rowJson (
  view: StoredView, stored: Entry, { include, ages, budget, memory, head }: StoredRowForm
): Steps<Buffer> {
  const row = yield * view.row(stored, budget)
  const shape = { protobuf: false, metadata: include === 'Metadata' }
  if (include !== 'None' && !view.isReady(stored, shape)) yield * view.inSteps(stored, shape)
  const object = include === 'None'
    ? [NONE]
    : include === 'Metadata' ? [head, view.metadata(stored), END] : [objectJson(view, stored)]
  return row.written(ages, [OBJECT, ...object, END], memory)
}

function objectJson (view: StoredView, stored: Entry): Buffer {
  const { json } = view.entry(stored)
  return json.subarray(0, json.length - NEWLINE_LENGTH)
}

/** The row of an object that is not stored. */
export function row (
  tabular: Tabular, own: ApiObject, view: View, { include, version, ages, budget }: RowForm
): object {
  const object = view.shownCopy(tabular.message, own)
  const { cells, conditions } = tableRow(tabular, object, 0, { named: view.key, ages, budget })
  const rowCells = { cells, ...(conditions.length === 0 ? {} : { conditions }) }
  if (include === 'None') return { ...rowCells, object: null }
  return { ...rowCells, object: include === 'Object' ? object : partialMetadata(object, version) }
}

/** @param tabular undefined for columns that are null, in watch events after the first */
export const headOf = (tabular: Tabular | undefined, metadata: object, version: string): object => {
  const columnDefinitions = tabular === undefined ? null : tableColumns(tabular)
  return { kind: 'Table', apiVersion: version, metadata, columnDefinitions }
}

/** Estimated bytes of the JSON of a row without its object: its cells, and a share of the head of its Table. */
const CELL_BYTES = 400

/** Estimated bytes of the JSON of a row. */
export function sizeOfRow (view: StoredView, entry: Entry, include: IncludeObject): number {
  if (include === 'None') return CELL_BYTES
  const isMetadata = include === 'Metadata' && view.isReady(entry, { protobuf: false, metadata: true })
  return CELL_BYTES + (isMetadata ? view.metadata(entry).length : entry.json.length)
}
