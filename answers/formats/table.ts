/** Tables, as JSON or YAML: an object, a list and an event are rows. (Interface: Table representation.) */
import { CellBudget } from '../../schemas/cell-budget.js'
import { partialMetadata } from '../../schemas/codec/encodings.js'
import { decode } from '../../schemas/language/decode.js'
import type { ApiObject } from '../../schemas/resource.js'
import { tableColumns, tableRow, type Tabular } from '../../schemas/table.js'
import { quote } from '../../schemas/quote.js'
import { badRequest } from '../../schemas/status.js'
import { finish, type Steps } from '../../schemas/steps.js'
import { isLarge } from '../../event-loop/turns.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { metadataOf } from '../list-metadata.js'
import type { Naming } from '../../schemas/naming.js'
import {
  bookmarkObject, NOTHING, objectIn, shownObject, type Events, type Part, type ShownList, type TextFormat
} from './format.js'
import { addedOneByOne, jsonEvents, jsonLine } from './json.js'
import { textItem } from './text.js'

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
  readonly naming: Naming
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Of all rows of the answer. */
  readonly budget: CellBudget
}

export const rowForm = (
  { clock }: ResourceStore, asked: Pick<RowForm, 'include' | 'version' | 'naming'>, rows?: number
): RowForm => ({ ...asked, now: clock.wall(), budget: new CellBudget(rows) })

/** One row, with the object as requested; null for None, as upstream. Cells show the object as its client sees it. */
export function * row (
  tabular: Tabular, own: ApiObject, { include, version, naming, now, budget }: RowForm
): Steps<object> {
  const object = shownObject(naming, tabular.message, own)
  if (object !== own) yield
  const { cells, conditions } = tableRow(tabular, object, now, { named: naming.key, budget })
  yield
  const made = { cells, ...(conditions.length === 0 ? {} : { conditions }) }
  if (include === 'None') return { ...made, object: null }
  return { ...made, object: include === 'Object' ? object : partialMetadata(object, version) }
}

interface Table { readonly rows: object[] }

/** @param tabular undefined for columns that are null, in watch events after the first */
const table = (tabular: Tabular | undefined, metadata: object, rows: object[], version: string): Table => {
  const columnDefinitions = tabular === undefined ? null : tableColumns(tabular)
  return { kind: 'Table', apiVersion: version, metadata, columnDefinitions, rows } as Table
}

/** A table of one object. */
export function * tableOf (tabular: Tabular, own: ApiObject, form: RowForm): Steps<object> {
  const { resourceVersion } = own.metadata
  const only = yield * row(tabular, own, form)
  return table(tabular, resourceVersion === undefined ? {} : { resourceVersion }, [only], form.version)
}

export function tableList (
  format: TextFormat, shown: ShownList, version: string, include: IncludeObject
): Iterable<Part> {
  const { store, list, naming, asker } = shown
  const objectOf = objectIn(shown)
  const form = rowForm(store, { include, version, naming }, list.entries.length)
  const { rows: _, ...head } = table(store.representation, metadataOf(list, store), [], version)
  const inSteps = function * (): Generator<Part> {
    for (const entry of list.entries) {
      const steps = row(store.representation, objectOf(entry), form)
      const made = isLarge(entry.json.length) ? yield * pausing(steps) : finish(steps)
      yield textItem(format, entry, made, asker)
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

/** For entries of the stored version; `withColumns` adds the columns to the first event of each watch. */
export function tableEvents (store: ResourceStore, naming: Naming, version: string, include: IncludeObject): Events {
  const { representation } = store
  const asked = { include, version, naming }
  const line = (type: string, revision: number, only: object): Buffer =>
    jsonLine(type, table(undefined, { resourceVersion: String(revision) }, [only], version))
  const event: Events['event'] = (type, entry) =>
    line(type, entry.revision, finish(row(representation, store.toVersion(entry).copy(), rowForm(store, asked))))
  /** A row whose object has only a resourceVersion. */
  const bookmarkRow = (revision: number): object => {
    const object = bookmarkObject(store, revision, naming)
    const { object: own } = decode(representation.message, { ...object, apiVersion: representation.apiVersion })
    const shown = include === 'Object' ? 'None' : include
    const made = finish(row(representation, own, rowForm(store, { ...asked, include: shown })))
    return include === 'Object' ? { ...made, object } : made
  }
  const bookmark = (revision: number): Buffer => line('BOOKMARK', revision, bookmarkRow(revision))
  return { event, added: addedOneByOne(event), bookmark, failure: jsonEvents(store, naming).failure }
}

export const NO_COLUMNS = '"columnDefinitions":null'
export const columnsJson = (tabular: Tabular): Buffer =>
  Buffer.from(`"columnDefinitions":${JSON.stringify(tableColumns(tabular))}`)
