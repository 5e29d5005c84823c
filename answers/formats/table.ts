/** Tables, as JSON or YAML: an object, a list and an event are rows. (Interface: Table representation.) */
import { CellBudget } from '../../schemas/cell-budget.js'
import { partialMetadata } from '../../schemas/codec/encodings.js'
import { decode } from '../../schemas/language/decode.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { tableColumns } from '../../schemas/table.js'
import { finish, type Steps } from '../../schemas/steps.js'
import { isLarge, nextTurn, runStepsYielding, turnIsOver } from '../../event-loop/turns.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { ObjectList, TabularForm } from '../answer.js'
import { metadataOf } from '../list-metadata.js'
import { ownViewOf, type StoredView } from '../stored-view.js'
import type { View } from '../view.js'
import {
  bytesOf, NOTHING, type Events, type Form, type Part, type Parts, type ShownEntry, type ShownList, type Stream,
  type TextForm, type Unstored
} from './format.js'
import { JSON_STREAM } from './json.js'
import {
  headOf, reused, row, rowForm, rowJson, sizeOfRow, type Asked, type IncludeObject, type StoredRowForm
} from './rows.js'
import { textOf, textPart } from './text.js'

export function tableForm (text: TextForm, version: string, include: IncludeObject): Form {
  const asked = { version, include }
  return {
    type: text.type,
    shape: undefined,
    entry: (shown, stored) => entryTable(text, shown, stored, asked),
    list: shown => listTable(text, shown, asked),
    ordered: byRank,
    stream: tableStream(asked),
    object: (view, own) => text.document(objectTable(view, own, asked))
  }
}

const ofOne = (resourceVersion: string | undefined): object => resourceVersion === undefined ? {} : { resourceVersion }

/** A table of one object that is not stored. */
function objectTable (view: View, { object, forms }: Unstored, asked: Asked): object {
  const { store, tabular } = forms as TabularForm // others have no tables
  const own = object as ApiObject // as it has columns
  const head = headOf(tabular, ofOne(own.metadata.resourceVersion), asked.version)
  return { ...head, rows: [row(tabular, own, view, rowForm({ store }, asked))] }
}

/** A table of one stored object. A large one in steps. */
function entryTable (
  text: TextForm, { view, asker }: ShownEntry, stored: Entry, asked: Asked
): Buffer | Promise<Buffer> {
  const steps = tableJson(view, stored, rowForm(view, asked))
  if (!isLarge(stored.json.length)) return textOf(text, finish(steps), asker)
  return runStepsYielding(steps).then(json => textOf(text, json, asker))
}

/** As compact JSON and a newline. */
function * tableJson (view: StoredView, stored: Entry, form: StoredRowForm): Steps<Buffer> {
  const only = yield * rowJson(view, stored, form)
  const metadata = ofOne(stored.revision === 0 ? undefined : String(stored.revision))
  const head = JSON.stringify(headOf(view.store.tabular, metadata, form.version))
  return Buffer.concat([bytesOf(`${head.slice(0, -1)},"rows":[`), only, bytesOf(']}\n')])
}

function listTable (text: TextForm, { view, list, asker }: ShownList, asked: Asked): Parts {
  // A thread keeps what it is given.
  const memory = text.slow === undefined ? reused() : undefined
  const form = rowForm(view, asked, list.entries.length, memory)
  const head = headOf(view.store.tabular, metadataOf(list, view.store), asked.version)
  const inSteps = function * (): Generator<Part> {
    for (const stored of list.entries) {
      const steps = rowJson(view, stored, form)
      const json = isLarge(stored.json.length) ? yield * pausing(steps) : finish(steps)
      yield textPart(text, json, asker)
    }
  }
  return text.listing(head, 'rows', inSteps())
}

/** Rows are sorted where a type has ranks. Yields to the event loop. */
async function byRank (store: ResourceStore, list: ObjectList): Promise<ObjectList> {
  const { tableRank } = store.type
  if (tableRank === undefined) return list
  const { leaves: _, ...rest } = list
  const ranks = new Map<Entry, number>()
  for (const entry of list.entries) {
    ranks.set(entry, tableRank(entry.copy()))
    if (turnIsOver()) await nextTurn()
  }
  // A stable sort keeps lists, which are in name order, when ranks are equal.
  return { ...rest, entries: [...list.entries].sort((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0)) }
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

function tableStream (asked: Asked): Stream {
  const { include, version } = asked
  return {
    ...JSON_STREAM,
    id: `table ${version} ${include}`,
    shape: include === 'None' ? undefined : { protobuf: false, metadata: include === 'Metadata' },
    events: view => tableEvents(view, asked)
  }
}

const NO_COLUMNS = '"columnDefinitions":null'

function tableEvents (view: StoredView, asked: Asked): Events {
  const { include, version } = asked
  const head = JSON.stringify(headOf(undefined, { resourceVersion: '' }, version)).slice(0, -1)
  const [start = '', rest = ''] = head.split(VERSION)
  const middle = bytesOf(`${rest},"rows":[`)
  const startOf = (type: string): Uint8Array => bytesOf(`{"type":"${type}","object":${start}${VERSION}`)
  const line = (type: string, revision: number, only: Uint8Array): Buffer =>
    Buffer.concat([startOf(type), bytesOf(String(revision)), middle, only, LINE_END])
  const first = startOf('ADDED')
  const write = function * (entries: readonly Entry[]): Generator<readonly Uint8Array[]> {
    const form = rowForm(view, asked, 1, reused())
    for (const stored of entries) {
      const only = finish(rowJson(view, stored, { ...form, budget: new CellBudget() })) // each event is an answer
      yield [first, bytesOf(String(stored.revision)), middle, only, LINE_END]
    }
  }
  const columns = Buffer.from(`"columnDefinitions":${JSON.stringify(tableColumns(view.store.tabular))}`)
  return {
    event: (type, stored) => line(type, stored.revision, finish(rowJson(view, stored, rowForm(view, asked)))),
    added: {
      write,
      sizeOf: entry => sizeOfRow(view, entry, include),
      isSlow: entry => !view.hasRow(entry),
      columns: { without: NO_COLUMNS, bytes: columns }
    },
    bookmark: (revision, isMark) =>
      line('BOOKMARK', revision, Buffer.from(JSON.stringify(bookmarkRow(view, asked, revision, isMark)))),
    failure: JSON_STREAM.events(view).failure
  }
}

/** A row whose object has only a resourceVersion, and the mark, which is never left out. */
function bookmarkRow (view: StoredView, { include, version }: Asked, revision: number, isMark: boolean): object {
  const { store } = view
  const { object: own } = decode(store.representation.message, ownViewOf(store).bookmark(revision, isMark))
  const rowCells = row(store.tabular, own, view, rowForm(view, { include: 'None', version }))
  const object = view.bookmark(revision, isMark)
  if (include === 'Object') return { ...rowCells, object }
  return include === 'Metadata' || isMark ? { ...rowCells, object: partialMetadata(object, version) } : rowCells
}
