/**
 * Encodes watch events in the negotiated format. Each event is encoded once for all watchers, and a run of events is joined once for all watchers that take
 * it in the same turn.
 */
import type { FastifyRequest } from 'fastify'
import { publicType, publicStatus } from '../schemas/compat/objects.js'
import { translateGroup } from '../schemas/compat/text.js'
import { CellBudget } from '../schemas/cell-budget.js'
import { partialMetadata, partialMetadataProtobuf, statusToProtobuf } from '../schemas/codec/encodings.js'
import { decode, encodeProtobuf, protobufWatchFrame, stringify, tableColumns } from '../schemas/index.js'
import type { Status } from '../schemas/status.js'
import { finish } from '../schemas/steps.js'
import type { Entry } from '../storage/cache/entry.js'
import type { CacheEvent } from '../storage/cache/event.js'
import type { VersionedEvent } from '../registry/operations/watch.js'
import { publicEntry } from '../registry/public-entry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { row, table, includeObject, type TransformRequest, type IncludeObject } from './transform.js'
import { chunk, chunkContent, chunkEnds } from './watch-sink.js'

export interface WatchEncoder {
  /** Maximum number of objects to encode in one call, if each takes long. */
  readonly most?: number
  /** Encodes objects of the initial state, for one watch. */
  added: (entries: readonly Entry[]) => Buffer
  /** Encodes unchanged events; equal ids mean equal events. */
  batch: (events: readonly CacheEvent[], id: string) => Buffer
  /** Encodes events as one watch sees them, leaving out those it does not select. */
  encodeVersioned: (events: readonly CacheEvent[], show: (event: CacheEvent) => VersionedEvent | undefined) => Buffer
  bookmark: (revision: number) => Buffer
  failure: (status: Status) => Buffer
}

/** Encodes one event; `entry` is the object to send. */
type EncodeOne = (type: string, entry: Entry) => Buffer

const NEWLINE_LENGTH = 1
const JSON_END = Buffer.from('}\n')
const ADDED = Buffer.from('{"type":"ADDED","object":')
const heads = new Map<string, Buffer>([['ADDED', ADDED]])

/** Wraps the stored bytes in an event, without parsing. */
function jsonEvent (type: string, entry: Entry): Buffer {
  let head = heads.get(type)
  if (head === undefined) heads.set(type, head = Buffer.from(`{"type":"${type}","object":`))
  const { json } = entry
  const bytes = Buffer.allocUnsafeSlow(head.length + json.length - NEWLINE_LENGTH + JSON_END.length)
  head.copy(bytes)
  json.copy(bytes, head.length, 0, json.length - NEWLINE_LENGTH)
  JSON_END.copy(bytes, bytes.length - JSON_END.length)
  return bytes
}

/** Encodes many objects in one chunk: the initial state is by far the most that a watch sends, and is not shared. */
function jsonAdded (entries: readonly Entry[], chunked: boolean): Buffer {
  let length = 0
  for (const { json } of entries) length += ADDED.length + json.length - NEWLINE_LENGTH + JSON_END.length
  const [head, tail] = chunked ? chunkEnds(length) : ['', '']
  const bytes = Buffer.allocUnsafe(head.length + length + tail.length)
  bytes.write(head, 0, 'latin1')
  bytes.write(tail, head.length + length, 'latin1')
  let at = head.length
  for (const { json } of entries) {
    bytes.set(ADDED, at)
    bytes.set(json, at += ADDED.length)
    bytes.set(JSON_END, at += json.length - NEWLINE_LENGTH) // overwrites the newline: cheaper than a view without it
    at += JSON_END.length
  }
  return bytes
}

const jsonLine = (type: string, object: object): Buffer => Buffer.from(`${stringify({ type, object })}\n`)

/** The media type and encoder of a watch, before the transport is known. */
export interface WatchForm {
  readonly type: string
  /** @param chunked adds HTTP/1.1 chunk framing to each event, see `chunk` */
  readonly encoder: (chunked: boolean) => WatchEncoder
}

const framing = (chunked: boolean) => (bytes: Buffer): Buffer => chunked ? chunk(bytes) : bytes

/** @throws StatusError 400 */
export function watchForm (request: FastifyRequest, store: ResourceStore): WatchForm {
  const { publicNames } = request.orch
  const requested: TransformRequest = request.orch.accept ?? { format: 'json', as: undefined, asVersion: 'meta.orch.io/v1' }
  const include = requested.as === 'Table' ? includeObject(request) : undefined // validated before the response begins
  const protobuf = requested.format === 'protobuf' && include === undefined
  const type = protobuf ? 'application/vnd.orch.protobuf;stream=watch' : 'application/json'
  return {
    type: publicNames ? publicType(type) : type,
    encoder (chunked) {
      const form = requested.as === undefined ? '' : `${requested.as} ${requested.asVersion} ${include ?? ''}`
      const format = protobuf ? 'protobuf' : 'json'
      const name = `${store.representation.apiVersion} ${format} ${form}${publicNames ? ' public' : ''}`
      let byName = encoders.get(store)
      if (byName === undefined) encoders.set(store, byName = new Map())
      const key = chunked ? `${name} chunked` : name
      let encoder = byName.get(key)
      if (encoder === undefined) {
        const made = include === undefined
          ? encodings(store, requested, protobuf, publicNames)
          : tableEncodings(store, requested, include, publicNames)
        byName.set(key, encoder = sharedEncoder(store, name, ...made, chunked))
      }
      return include === undefined ? encoder : withColumns({ ...encoder, most: MOST_ROWS }, store, chunked)
    }
  }
}

/** Each row of a Table may take a millisecond. */
const MOST_ROWS = 8

/** Shared by all watches of a store with the same format. */
const encoders = new WeakMap<ResourceStore, Map<string, WatchEncoder>>()

/** Encodes objects of the initial state, optionally with HTTP/1.1 chunk framing. */
type Added = (entries: readonly Entry[], chunked: boolean) => Buffer
type Encodings = [one: EncodeOne, added: Added, bookmark: WatchEncoder['bookmark'], failure: WatchEncoder['failure']]

function encodings (store: ResourceStore, requested: TransformRequest, protobuf: boolean, publicNames: boolean): Encodings {
  const [one, added, bookmark, failure] = storedEncodings(store, requested, protobuf, publicNames)
  if (store.representation.conversion === undefined && !publicNames) return [one, added, bookmark, failure]
  const shown = publicNames ? (entry: Entry) => publicEntry(store, store.toVersion(entry)) : (entry: Entry) => store.toVersion(entry)
  return [(type, entry) => one(type, shown(entry)), (entries, chunked) => added(entries.map(shown), chunked), bookmark, failure]
}

const failureOf = (status: Status, publicNames: boolean): Status => publicNames ? publicStatus(status) : status

/** For entries already converted to the representation. */
function storedEncodings (store: ResourceStore, requested: TransformRequest, protobuf: boolean, publicNames: boolean): Encodings {
  const { representation } = store
  const bookmarkOf = (revision: number): object => bookmarkObject(store, revision, publicNames)
  const failure = (own: Status): Buffer => failureFrame(failureOf(own, publicNames))
  const failureFrame = (status: Status): Buffer => protobuf ? protobufWatchFrame('ERROR', statusToProtobuf(status)) : jsonLine('ERROR', status)
  if (requested.as !== undefined) {
    const version = requested.asVersion
    const one: EncodeOne = protobuf
      ? (kind, entry) => protobufWatchFrame(kind, partialMetadataProtobuf(entry.object, version))
      : (kind, entry) => jsonLine(kind, partialMetadata(entry.object, version))
    const bookmark = (revision: number): Buffer => protobuf
      ? protobufWatchFrame('BOOKMARK', partialMetadataProtobuf(bookmarkOf(revision) as never, version))
      : jsonLine('BOOKMARK', { ...bookmarkOf(revision), kind: 'PartialObjectMetadata', apiVersion: version })
    return [one, concatenated(one), bookmark, failure]
  }
  if (!protobuf) return [jsonEvent, jsonAdded, revision => jsonLine('BOOKMARK', bookmarkOf(revision)), failure]
  const one: EncodeOne = (kind, entry) => protobufWatchFrame(kind, store.protobuf(entry))
  return [one, concatenated(one), revision => protobufWatchFrame('BOOKMARK', encodeProtobuf(representation.message, bookmarkOf(revision) as never)), failure]
}

function concatenated (one: EncodeOne): Added {
  return (entries, chunked) => {
    const bytes = Buffer.concat(entries.map(entry => one('ADDED', entry)))
    return chunked ? chunk(bytes) : bytes
  }
}

/** The object of a bookmark: kind and resourceVersion. */
const bookmarkObject = ({ representation }: ResourceStore, revision: number, publicNames = false): object => ({
  kind: representation.kind,
  apiVersion: publicNames ? translateGroup(representation.apiVersion) : representation.apiVersion,
  metadata: { resourceVersion: String(revision) }
})

type Encode = (event: CacheEvent) => Buffer

/** Watchers in one turn are at one position, or at a few. */
const MAX_CACHED_RUNS = 4

function sharedEncoder (store: ResourceStore, encoding: string, one: EncodeOne, added: Added, bookmark: WatchEncoder['bookmark'], failure: WatchEncoder['failure'], chunked: boolean): WatchEncoder {
  const framed = framing(chunked)
  // Caches the event with chunk framing and serves the unframed bytes as a view of it, because both protocols are in use.
  const cached = (name: string, make: Encode): Encode => {
    const chunkName = `${name} chunk`
    const whole: Encode = event => chunk(make(event))
    const content: Encode = event => chunkContent(event.encoded(chunkName, whole))
    return chunked ? event => event.encoded(chunkName, whole) : event => event.encoded(name, content)
  }
  const plain = cached(encoding, ({ type, entry }) => one(type, entry))
  const asType = {
    ADDED: cached(`${encoding} ADDED`, ({ entry }) => one('ADDED', entry)),
    MODIFIED: cached(`${encoding} MODIFIED`, ({ entry }) => one('MODIFIED', entry)),
    DELETED: cached(`${encoding} DELETED`, ({ entry }) => one('DELETED', entry))
  }
  const last = cached(`${encoding} last`, ({ previous, entry, revision }) => one('DELETED', store.entry(entry.key, (previous ?? entry).object, revision)))
  const runs: Array<{ readonly id: string, readonly bytes: Buffer }> = []
  let lastBookmark: { readonly revision: number, readonly bytes: Buffer } | undefined
  return {
    added: entries => added(entries, chunked),
    bookmark (revision) {
      if (lastBookmark?.revision !== revision) lastBookmark = { revision, bytes: framed(bookmark(revision)) }
      return lastBookmark.bytes
    },
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
        const found = show(event)
        if (found === undefined) continue
        pieces.push(found.last ? last(event) : found.type === event.type ? plain(event) : asType[found.type](event))
      }
      return pieces.length === 1 ? pieces[0] as Buffer : Buffer.concat(pieces)
    }
  }
}

/** A row whose object has only a resourceVersion. */
function bookmarkRow (store: ResourceStore, revision: number, include: IncludeObject, requested: TransformRequest, publicNames: boolean): object {
  const object = bookmarkObject(store, revision)
  const shown = include === 'Object' ? 'None' : include
  const form = { include: shown, publicNames, now: store.clock.wall(), budget: new CellBudget() }
  const made = finish(row(store.representation, decode(store.representation.message, object).object, requested, form))
  return include === 'Object' ? { ...made, object: bookmarkObject(store, revision, publicNames) } : made
}

/** For entries of the stored version; the columns are added to the first event of each watch. */
function tableEncodings (
  store: ResourceStore, requested: TransformRequest, include: IncludeObject, publicNames: boolean
): Encodings {
  const { representation } = store
  const made = (revision: number, only: object): object =>
    table(representation, { resourceVersion: String(revision) }, [only], requested, false)
  const one: EncodeOne = (type, entry) => {
    const form = { include, publicNames, now: store.clock.wall(), budget: new CellBudget() }
    const object = store.toVersion(entry).read()
    return jsonLine(type, made(entry.revision, finish(row(representation, object, requested, form))))
  }
  const bookmark = (revision: number): Buffer =>
    jsonLine('BOOKMARK', made(revision, bookmarkRow(store, revision, include, requested, publicNames)))
  return [one, concatenated(one), bookmark, status => jsonLine('ERROR', failureOf(status, publicNames))]
}

/** The encoder of one watch, whose first event has the columns, beside that of all watches of its kind. */
function withColumns (shared: WatchEncoder, { representation }: ResourceStore, chunked: boolean): WatchEncoder {
  let first = true
  const once = (bytes: Buffer): Buffer => {
    if (!first || bytes.length === 0) return bytes
    first = false
    const columns = `"columnDefinitions":${JSON.stringify(tableColumns(representation))}`
    return addColumns(bytes, Buffer.from(columns), chunked)
  }
  return {
    ...shared,
    added: entries => once(shared.added(entries)),
    batch: (events, id) => once(shared.batch(events, id)),
    encodeVersioned: (events, show) => once(shared.encodeVersioned(events, show))
  }
}

const NO_COLUMNS = '"columnDefinitions":null'
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
