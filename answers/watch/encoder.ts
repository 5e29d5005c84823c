/**
 * Encodes watch events in the negotiated format. Each event is encoded once for all watchers, and a run of events is
 * joined once for all watchers that take it in the same turn.
 */
import { oncePer } from '../../schemas/once-per.js'
import type { Status } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { CacheEvent } from '../../storage/cache/event.js'
import type { VersionedEvent } from '../../registry/verbs/watch.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { RequestContext } from '../request-context.js'
import { formOf } from '../formats/choice.js'
import type { AddedRows, Events, Stream } from '../formats/format.js'
import { formsOf } from '../large-forms.js'
import { storedViewOf, type StoredView } from '../stored-view.js'
import { itemSizes, joinedParts, joinedRows, leavesOf } from './added.js'
import { chunk, chunkContent } from './framing.js'
import type { Part } from './initial.js'

type Columns = AddedRows['columns']

export interface WatchEncoder {
  /** Of a Table: the first event of each watch has them. */
  readonly columns?: Columns
  /** Maximum number of events to encode in one call, and of objects of the initial state, if each takes long. */
  readonly most?: number
  /** Objects of the initial state that take long. */
  readonly isSlow?: (entry: Entry) => boolean
  /** Forms of large objects that are made before these are encoded; undefined if nothing is missing. */
  forms: (entries: readonly Entry[]) => Promise<void> | undefined
  /** Bytes of an object of the initial state, nearly; its form is made, unless that is left to `forms`. */
  sizeOf: (entry: Entry) => number
  /** The joined bytes of a leaf of the initial state, which all watches share; undefined if they are not kept. */
  leaf: (entries: readonly Entry[]) => Buffer | undefined
  /** Encodes a part of the initial state, for one watch. */
  added: (parts: readonly Part[]) => Buffer
  /** Encodes unchanged events; equal ids mean equal events. */
  batch: (events: readonly CacheEvent[], id: string) => Buffer
  /** Encodes events as one watch sees them, leaving out those it does not select. */
  encodeVersioned: (events: readonly CacheEvent[], show: (event: CacheEvent) => VersionedEvent | undefined) => Buffer
  /** @param isMark whether it says that the initial state is complete */
  bookmark: (revision: number, isMark?: boolean) => Buffer
  failure: (status: Status) => Buffer
}

/** The media type and encoder of a watch, before the transport is known. */
export interface WatchForm {
  readonly type: string
  /** @param chunked adds HTTP/1.1 chunk framing to each event, see `chunk` */
  readonly encoder: (chunked: boolean) => WatchEncoder
}

/** Each row of a Table may take a millisecond. */
const MOST_ROWS = 8

/** Shared by all watches of a store with the same format. */
const encoders = oncePer((_store: ResourceStore) => new Map<string, WatchEncoder>())

/** @throws StatusError 400 */
export function watchForm (
  orch: Pick<RequestContext, 'accept' | 'query' | 'naming'>, store: ResourceStore
): WatchForm {
  const { stream } = formOf(orch)
  const view = storedViewOf(store, orch)
  return { type: view.mediaType(stream.type), encoder: chunked => encoderOf(view, stream, chunked) }
}

function encoderOf (view: StoredView, stream: Stream, chunked: boolean): WatchEncoder {
  const name = `${view.id} ${stream.id}`
  const key = chunked ? `${name} chunked` : name
  const ofStore = encoders(view.store)
  let made = ofStore.get(key)
  if (made === undefined) ofStore.set(key, made = madeEncoder(view, name, stream, chunked))
  return made.columns === undefined ? made : withColumns(made, made.columns, chunked)
}

function madeEncoder (view: StoredView, name: string, stream: Stream, chunked: boolean): WatchEncoder {
  const { shape } = stream
  const events = stream.events(view)
  const { added } = events
  const forms: WatchEncoder['forms'] = entries => shape === undefined ? undefined : formsOf(view, entries, shape)
  const shared = { ...sharedEncoder(name, events, chunked), forms }
  if ('columns' in added) {
    const { sizeOf, isSlow, columns } = added
    return { ...shared, sizeOf, isSlow, columns, leaf: () => undefined, most: MOST_ROWS }
  }
  const isReady = (entry: Entry): boolean => shape === undefined || view.isReady(entry, shape)
  return { ...shared, sizeOf: itemSizes(added, isReady), leaf: leavesOf(added, isReady, chunked) }
}

type Encode = (event: CacheEvent) => Buffer

/** Watchers in one turn are at one position, or at a few. */
const MAX_CACHED_RUNS = 4

function sharedEncoder (
  encoding: string, { event: encodeEvent, added, bookmark, failure }: Events, chunked: boolean
): Omit<WatchEncoder, 'forms' | 'sizeOf' | 'leaf'> {
  const framed = (bytes: Buffer): Buffer => chunked ? chunk(bytes) : bytes
  // Caches the event with chunk framing and serves the unframed bytes as a view of it, because both protocols are in
  // use.
  const cached = (name: string, make: Encode): Encode => {
    const chunkName = `${name} chunk`
    const whole: Encode = event => chunk(make(event))
    const content: Encode = event => chunkContent(event.encoded(chunkName, whole))
    return chunked ? event => event.encoded(chunkName, whole) : event => event.encoded(name, content)
  }
  const plain = cached(encoding, ({ type, entry }) => encodeEvent(type, entry))
  const asType = {
    ADDED: cached(`${encoding} ADDED`, ({ entry }) => encodeEvent('ADDED', entry)),
    MODIFIED: cached(`${encoding} MODIFIED`, ({ entry }) => encodeEvent('MODIFIED', entry)),
    DELETED: cached(`${encoding} DELETED`, ({ entry }) => encodeEvent('DELETED', entry))
  }
  const last = cached(`${encoding} last`, ({ previous, entry, revision }) =>
    encodeEvent('DELETED', (previous ?? entry).at(revision)))
  const runs: Array<{ readonly id: string, readonly bytes: Buffer }> = []
  const plainBookmark = lastOf(revision => framed(bookmark(revision, false)))
  const mark = lastOf(revision => framed(bookmark(revision, true)))
  return {
    added: 'columns' in added
      ? parts => joinedRows(added, parts.flat() as Entry[], chunked) // no leaves of rows
      : parts => joinedParts(added, parts, chunked),
    bookmark: (revision, isMark = false) => isMark ? mark(revision) : plainBookmark(revision),
    failure: status => framed(failure(status)),
    batch (events, id) {
      if (events.length === 1) return plain(events[0] as CacheEvent) // exactly one event
      for (const run of runs) if (run.id === id) return run.bytes
      const bytes = Buffer.concat(events.map(plain))
      runs.unshift({ id, bytes })
      if (runs.length > MAX_CACHED_RUNS) runs.pop()
      return bytes
    },
    encodeVersioned (events, show) {
      const pieces: Buffer[] = []
      for (const event of events) {
        const visible = show(event)
        if (visible === undefined) continue
        pieces.push(
          visible.last ? last(event) : visible.type === event.type ? plain(event) : asType[visible.type](event)
        )
      }
      return pieces.length === 1 ? pieces[0] as Buffer : Buffer.concat(pieces)
    }
  }
}

/** Keeps the last result. */
function lastOf (make: (revision: number) => Buffer): (revision: number) => Buffer {
  let last: { readonly revision: number, readonly bytes: Buffer } | undefined
  return revision => {
    if (last?.revision !== revision) last = { revision, bytes: make(revision) }
    return last.bytes
  }
}

/** The encoder of one watch, whose first event has the columns, beside that of all watches of its kind. */
function withColumns (shared: WatchEncoder, columns: Columns, chunked: boolean): WatchEncoder {
  let first = true
  const once = (bytes: Buffer): Buffer => {
    if (!first || bytes.length === 0) return bytes
    first = false
    return addColumns(bytes, columns, chunked)
  }
  return {
    ...shared,
    added: parts => once(shared.added(parts)),
    bookmark (revision, isMark) {
      const bytes = shared.bookmark(revision, isMark)
      return isMark === true ? once(bytes) : bytes
    },
    batch: (events, id) => once(shared.batch(events, id)),
    encodeVersioned: (events, show) => once(shared.encodeVersioned(events, show))
  }
}

const CHUNK_TAIL = 2

/** Adds columns to the first of some events. No text of a client precedes the member that is replaced. */
function addColumns (bytes: Buffer, columns: Columns, chunked: boolean): Buffer {
  if (chunked) {
    const start = bytes.indexOf('\n') + 1
    const end = start + Number.parseInt(bytes.toString('latin1', 0, start), 16)
    const changed = chunk(addColumns(bytes.subarray(start, end), columns, false))
    return Buffer.concat([changed, bytes.subarray(end + CHUNK_TAIL)])
  }
  const at = bytes.indexOf(columns.without)
  return Buffer.concat([bytes.subarray(0, at), columns.bytes, bytes.subarray(at + columns.without.length)])
}
