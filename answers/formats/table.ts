/** Tables, as JSON or YAML: an object, a list and an event are rows. (Interface: Table representation.) */
import { CellBudget } from '../../schemas/cell-budget.js'
import { partialMetadata } from '../../schemas/codec/encodings.js'
import { decode } from '../../schemas/language/decode.js'
import { agesAt, type Ages } from '../../schemas/meta/duration.js'
import { OWN_NAMES, type Naming } from '../../schemas/naming.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { tableColumns, tableRow, type Tabular } from '../../schemas/table.js'
import { quote } from '../../schemas/quote.js'
import { badRequest } from '../../schemas/status.js'
import { finish, type Steps } from '../../schemas/steps.js'
import { isLarge } from '../../event-loop/turns.js'
import type { Entry } from '../../storage/cache/entry.js'
import { metadataOf } from '../list-metadata.js'
import type { View } from '../view.js'
import {
  bookmarkObject, bytesOf, NOTHING, shownObject, type Events, type Part, type Parts, type ShownList, type TextFormat
} from './format.js'
import { jsonEvents } from './json.js'
import { headOfMetadata } from './metadata.js'
import { textPart } from './text.js'

export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** @throws StatusError 400 */
export function includeObject (query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? ''
  if (value === '' || value === 'Metadata') return 'Metadata'
  if (value === 'None' || value === 'Object') return value
  const why = `Invalid value: ${quote(value)}: must be 'Metadata', 'Object', 'None', or empty`
  throw badRequest(`Unable to convert to Table as requested: includeObject: ${why}`)
}

/** What a row shows, beside its cells. */
export interface RowForm {
  readonly include: IncludeObject
  /** The apiVersion of the Table: `meta.orch.io/v1`. */
  readonly version: string
  readonly ages: Ages
  /** Of all rows of the answer. */
  readonly budget: CellBudget
}

/** Of rows of stored objects. */
interface StoredRowForm extends RowForm {
  /** Of a row. */
  readonly memory: (bytes: number) => Buffer
  /** What is before the metadata of its object. */
  readonly head: Uint8Array
}

export const rowForm = (
  { store: { clock } }: View, asked: Pick<RowForm, 'include' | 'version'>, rows?: number,
  memory: StoredRowForm['memory'] = Buffer.allocUnsafe
): StoredRowForm => ({
  ...asked, memory, ages: agesAt(clock.wall()), budget: new CellBudget(rows), head: headOfMetadata(asked.version)
})

/** Memory for one row after the other: new one for each, of several kilobytes, would be collected with everything. */
function reused (): StoredRowForm['memory'] {
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
function * rowJson (
  view: View, stored: Entry, { include, ages, budget, memory, head }: StoredRowForm
): Steps<Buffer> {
  const row = yield * view.row(stored, budget)
  const shape = { protobuf: false, metadata: include === 'Metadata' }
  if (include !== 'None' && !view.isReady(stored, shape)) yield * view.inSteps(stored, shape)
  const object = include === 'None'
    ? [NONE]
    : include === 'Metadata' ? [head, view.metadata(stored), END] : [objectJson(view, stored)]
  return row.written(ages, [OBJECT, ...object, END], memory)
}

function objectJson (view: View, stored: Entry): Buffer {
  const { json } = view.entry(stored)
  return json.subarray(0, json.length - NEWLINE_LENGTH)
}

/** The row of an object that is not stored. */
function row (
  tabular: Tabular, object: ApiObject, naming: Naming, { include, version, ages, budget }: RowForm
): object {
  const { cells, conditions } = tableRow(tabular, object, 0, { named: naming.key, ages, budget })
  const rowCells = { cells, ...(conditions.length === 0 ? {} : { conditions }) }
  if (include === 'None') return { ...rowCells, object: null }
  return { ...rowCells, object: include === 'Object' ? object : partialMetadata(object, version) }
}

/** @param tabular undefined for columns that are null, in watch events after the first */
const headOf = (tabular: Tabular | undefined, metadata: object, version: string): object => {
  const columnDefinitions = tabular === undefined ? null : tableColumns(tabular)
  return { kind: 'Table', apiVersion: version, metadata, columnDefinitions }
}

const ofOne = (resourceVersion: string | undefined): object => resourceVersion === undefined ? {} : { resourceVersion }

/** A table of one object that is not stored. */
export function tableOf (tabular: Tabular, own: ApiObject, naming: Naming, form: RowForm): object {
  const head = headOf(tabular, ofOne(own.metadata.resourceVersion), form.version)
  return { ...head, rows: [row(tabular, shownObject(naming, tabular.message, own), naming, form)] }
}

/** A table of one stored object, as compact JSON and a newline. */
export function * tableJson (view: View, stored: Entry, form: StoredRowForm): Steps<Buffer> {
  const only = yield * rowJson(view, stored, form)
  const metadata = ofOne(stored.revision === 0 ? undefined : String(stored.revision))
  const head = JSON.stringify(headOf(view.store.tabular, metadata, form.version))
  return Buffer.concat([bytesOf(`${head.slice(0, -1)},"rows":[`), only, bytesOf(']}\n')])
}

export function tableList (
  format: TextFormat, { view, list, asker }: ShownList, version: string, include: IncludeObject
): Parts {
  // A thread keeps what it is given.
  const memory = format.slow === undefined ? reused() : undefined
  const form = rowForm(view, { include, version }, list.entries.length, memory)
  const head = headOf(view.store.tabular, metadataOf(list, view.store), version)
  const inSteps = function * (): Generator<Part> {
    for (const stored of list.entries) {
      const steps = rowJson(view, stored, form)
      const json = isLarge(stored.json.length) ? yield * pausing(steps) : finish(steps)
      yield textPart(format, json, asker)
    }
  }
  return format.listing(head, 'rows', inSteps())
}

/** Yields nothing between the steps, so that the response may wait for a later turn. */
function * pausing<T> (steps: Steps<T>): Generator<Part, T> {
  for (;;) {
    yield NOTHING
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

const VERSION = '"resourceVersion":"'
const LINE_END = bytesOf(']}}\n')

/** `withColumns` adds the columns to the first event of each watch. */
export function tableEvents (view: View, version: string, include: IncludeObject): Events {
  const { store: { representation, tabular }, naming } = view
  const head = JSON.stringify(headOf(undefined, { resourceVersion: '' }, version)).slice(0, -1)
  const [start = '', rest = ''] = head.split(VERSION)
  const middle = bytesOf(`${rest},"rows":[`)
  const startOf = (type: string): Uint8Array => bytesOf(`{"type":"${type}","object":${start}${VERSION}`)
  const line = (type: string, revision: number, only: Uint8Array): Buffer =>
    Buffer.concat([startOf(type), bytesOf(String(revision)), middle, only, LINE_END])
  const event: Events['event'] = (type, stored) =>
    line(type, stored.revision, finish(rowJson(view, stored, rowForm(view, { include, version }))))
  const first = startOf('ADDED')
  const added = function * (entries: readonly Entry[]): Generator<readonly Uint8Array[]> {
    const form = rowForm(view, { include, version }, 1, reused())
    for (const stored of entries) {
      const only = finish(rowJson(view, stored, { ...form, budget: new CellBudget() })) // each event is an answer
      yield [first, bytesOf(String(stored.revision)), middle, only, LINE_END]
    }
  }
  /** A row whose object has only a resourceVersion, and the mark, which is never left out. */
  const bookmarkRow = (revision: number, isMark: boolean): object => {
    const object = bookmarkObject(view, revision, isMark)
    const { object: own } =
      decode(representation.message, bookmarkObject({ store: view.store, naming: OWN_NAMES }, revision, isMark))
    const form = rowForm(view, { include: 'None', version })
    const rowCells = row(tabular, shownObject(naming, representation.message, own), naming, form)
    if (include === 'Object') return { ...rowCells, object }
    return include === 'Metadata' || isMark ? { ...rowCells, object: partialMetadata(object, version) } : rowCells
  }
  const bookmark: Events['bookmark'] = (revision, isMark) =>
    line('BOOKMARK', revision, Buffer.from(JSON.stringify(bookmarkRow(revision, isMark))))
  return { event, added, bookmark, failure: jsonEvents(view).failure }
}

export const NO_COLUMNS = '"columnDefinitions":null'
export const columnsJson = (tabular: Tabular): Buffer =>
  Buffer.from(`"columnDefinitions":${JSON.stringify(tableColumns(tabular))}`)
