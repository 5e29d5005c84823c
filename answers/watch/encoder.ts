/**
 * Encodes watch events in the negotiated format. Each event is encoded once for all watchers, and a run of events is
 * joined once for all watchers that take it in the same turn.
 */
import { JSON_TYPE } from '../../schemas/media-types.js'
import type { Status } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { CacheEvent } from '../../storage/cache/event.js'
import type { VersionedEvent } from '../../registry/verbs/watch.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { RequestContext } from '../request-context.js'
import type { Events } from '../formats/format.js'
import { jsonEvents } from '../formats/json.js'
import { metadataEvents } from '../formats/metadata.js'
import { PROTOBUF_WATCH, protobufEvents } from '../formats/protobuf.js'
import { columnsJson, includeObject, NO_COLUMNS, tableEvents } from '../formats/table.js'
import { formsOf } from '../large-forms.js'
import { viewOf } from '../view.js'
import { itemSizes, joinedParts, joinedRows, leavesOf, rowSizes } from './added.js'
import { chunk, chunkContent } from './framing.js'
import type { Part } from './initial.js'

export interface WatchEncoder {
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
const encoders = new WeakMap<ResourceStore, Map<string, WatchEncoder>>()

/** @throws StatusError 400 */
export function watchForm (
  orch: Pick<RequestContext, 'accept' | 'query' | 'naming'>, store: ResourceStore
): WatchForm {
  const { naming } = orch
  const { format = 'json', as, asVersion = '' } = orch.accept ?? {}
  const include = as === 'Table' ? includeObject(orch.query) : undefined // validated before the response begins
  const protobuf = format === 'protobuf' && include === undefined
  const view = viewOf(store, naming)
  const shape = { protobuf, metadata: as !== undefined && include !== 'Object' }
  const forms: WatchEncoder['forms'] = entries => include === 'None' ? undefined : formsOf(view, entries, shape)
  const makeEvents = (): Events =>
    include !== undefined
      ? tableEvents(view, asVersion, include)
      : as !== undefined
        ? metadataEvents(view, asVersion, protobuf)
        : protobuf ? protobufEvents(view) : jsonEvents(view)
  return {
    type: naming.mediaType(protobuf ? PROTOBUF_WATCH : JSON_TYPE),
    encoder (chunked) {
      const form = as === undefined ? '' : `${as} ${asVersion} ${include ?? ''}`
      const name = `${view.id} ${protobuf ? 'protobuf' : 'json'} ${form}`
      let byName = encoders.get(store)
      if (byName === undefined) encoders.set(store, byName = new Map())
      const key = chunked ? `${name} chunked` : name
      let encoder = byName.get(key)
      if (encoder === undefined) {
        const events = makeEvents()
        const isReady = (entry: Entry): boolean => view.isReady(entry, shape)
        const initial = typeof events.added === 'function'
          ? { sizeOf: rowSizes(view, include, isReady), leaf: () => undefined }
          : { sizeOf: itemSizes(events.added, isReady), leaf: leavesOf(events.added, isReady, chunked) }
        byName.set(key, encoder = { ...sharedEncoder(store, name, events, chunked), forms, ...initial })
      }
      if (include === undefined) return encoder
      return withColumns({ ...encoder, most: MOST_ROWS, isSlow: entry => !view.hasRow(entry) }, store, chunked)
    }
  }
}

type Encode = (event: CacheEvent) => Buffer

/** Watchers in one turn are at one position, or at a few. */
const MAX_CACHED_RUNS = 4

function sharedEncoder (
  store: ResourceStore, encoding: string, { event: encodeEvent, added, bookmark, failure }: Events, chunked: boolean
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
    added: typeof added === 'function'
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
function withColumns (shared: WatchEncoder, { tabular }: ResourceStore, chunked: boolean): WatchEncoder {
  let first = true
  const once = (bytes: Buffer): Buffer => {
    if (!first || bytes.length === 0) return bytes
    first = false
    return addColumns(bytes, columnsJson(tabular), chunked)
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
function addColumns (bytes: Buffer, columns: Buffer, chunked: boolean): Buffer {
  if (chunked) {
    const start = bytes.indexOf('\n') + 1
    const end = start + Number.parseInt(bytes.toString('latin1', 0, start), 16)
    const changed = chunk(addColumns(bytes.subarray(start, end), columns, false))
    return Buffer.concat([changed, bytes.subarray(end + CHUNK_TAIL)])
  }
  const at = bytes.indexOf(NO_COLUMNS)
  return Buffer.concat([bytes.subarray(0, at), columns, bytes.subarray(at + NO_COLUMNS.length)])
}
