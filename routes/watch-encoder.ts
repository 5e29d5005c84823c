/**
 * The bytes of watch events in the negotiated form. Each event is encoded once however many watch, and a
 * run of events is joined once for all watchers that take the same run in the same turn.
 */
import type { FastifyRequest } from 'fastify'
import { partialMetadata, partialMetadataProtobuf, statusToProtobuf } from '../schemas/encodings.js'
import { encodeProtobuf, protobufWatchFrame } from '../schemas/index.js'
import type { Status } from '../schemas/status.js'
import type { Entry } from '../storage/cache/entry.js'
import type { CacheEvent } from '../storage/cache/event.js'
import type { Shown } from '../storage/operations/watch.js'
import type { ResourceStore } from '../storage/resource-store.js'
import { includeObject, row, table, transformVersion } from './transform.js'
import type { Form, IncludeObject } from './transform.js'

export interface WatchEncoder {
  readonly type: string
  /** An object of the state a watch begins with. */
  added: (entry: Entry) => Buffer
  /** Events shown as they are; `id` is equal exactly when they are. */
  batch: (events: readonly CacheEvent[], id: string) => Buffer
  /** Events as one watch shows them; those it does not show are left out. */
  shown: (events: readonly CacheEvent[], show: (event: CacheEvent) => Shown | undefined) => Buffer
  bookmark: (revision: number) => Buffer
  failure: (status: Status) => Buffer
}

/** Encodes one event; `object` is the entry to show. */
type One = (type: string, entry: Entry) => Buffer

const NEWLINE_LENGTH = 1
const JSON_END = Buffer.from('}\n')
const heads = new Map<string, Buffer>()

/** The stored bytes with an event around them: nothing is parsed. */
function jsonEvent (type: string, entry: Entry): Buffer {
  let head = heads.get(type)
  if (head === undefined) heads.set(type, head = Buffer.from(`{"type":"${type}","object":`))
  const { json } = entry
  const bytes = Buffer.allocUnsafe(head.length + json.length - NEWLINE_LENGTH + JSON_END.length)
  head.copy(bytes)
  json.copy(bytes, head.length, 0, json.length - NEWLINE_LENGTH)
  JSON_END.copy(bytes, bytes.length - JSON_END.length)
  return bytes
}

const jsonLine = (type: string, object: object): Buffer => Buffer.from(`${JSON.stringify({ type, object })}\n`)

export function encoderOf (request: FastifyRequest, store: ResourceStore): WatchEncoder {
  const { accept } = request.orch
  const form: Form = accept ?? { format: 'json', as: undefined, asVersion: 'v1' }
  const { definition } = store
  const bare = (revision: number) => ({ kind: definition.kind, apiVersion: definition.apiVersion, metadata: { resourceVersion: String(revision) } })
  if (form.as === 'Table') return tableEncoder(store, form, includeObject(request), bare)
  const protobuf = form.format === 'protobuf'
  const type = protobuf ? 'application/vnd.orch.protobuf;stream=watch' : 'application/json'
  const failure = (status: Status): Buffer => protobuf ? protobufWatchFrame('ERROR', statusToProtobuf(status)) : jsonLine('ERROR', status)
  if (form.as !== undefined) {
    const version = transformVersion(form)
    const one: One = protobuf
      ? (kind, entry) => protobufWatchFrame(kind, partialMetadataProtobuf(entry.object, version))
      : (kind, entry) => jsonLine(kind, partialMetadata(entry.object, version))
    const bookmark = (revision: number): Buffer => protobuf
      ? protobufWatchFrame('BOOKMARK', partialMetadataProtobuf(bare(revision) as never, version))
      : jsonLine('BOOKMARK', { ...bare(revision), kind: 'PartialObjectMetadata', apiVersion: version })
    return sharing(store, type, `${form.format} metadata ${version}`, one, bookmark, failure)
  }
  if (!protobuf) return sharing(store, type, 'json', jsonEvent, revision => jsonLine('BOOKMARK', bare(revision)), failure)
  return sharing(store, type, 'protobuf', (kind, entry) => protobufWatchFrame(kind, store.protobuf(entry)),
    revision => protobufWatchFrame('BOOKMARK', encodeProtobuf(definition.message, bare(revision) as never)), failure)
}

/** The last joined run of each form of a store. */
const runs = new WeakMap<ResourceStore, Map<string, { id: string, bytes: Buffer }>>()

function sharing (store: ResourceStore, type: string, form: string, one: One, bookmark: WatchEncoder['bookmark'], failure: WatchEncoder['failure']): WatchEncoder {
  const plain = (event: CacheEvent): Buffer => event.encoded(form, ({ type, entry }) => one(type, entry))
  const last = ({ type, event }: Shown): Buffer => event.encoded(`${form} last`, ({ previous, entry, revision }) =>
    one(type, store.entry(entry.key, (previous ?? entry).object, revision)))
  return {
    type,
    added: entry => one('ADDED', entry),
    bookmark,
    failure,
    batch (events, id) {
      if (events.length === 1) return plain(events[0] as CacheEvent)
      let known = runs.get(store)
      if (known === undefined) runs.set(store, known = new Map())
      const run = known.get(form)
      if (run?.id === id) return run.bytes
      const bytes = Buffer.concat(events.map(plain))
      known.set(form, { id, bytes })
      return bytes
    },
    shown (events, show) {
      const pieces: Buffer[] = []
      for (const event of events) {
        const found = show(event)
        if (found === undefined) continue
        if (found.last) pieces.push(last(found))
        else if (found.type === event.type) pieces.push(plain(event))
        else pieces.push(event.encoded(`${form} ${found.type}`, ({ entry }) => one(found.type, entry)))
      }
      return pieces.length === 1 ? pieces[0] as Buffer : Buffer.concat(pieces)
    }
  }
}

/** Tables are small and each watcher's own: the columns stand in its first event only. */
function tableEncoder (store: ResourceStore, form: Form, include: IncludeObject, bare: (revision: number) => object): WatchEncoder {
  let first = true
  const wrapped = (type: string, object: Entry['object'], revision: number): Buffer => {
    const made = table(store, { resourceVersion: String(revision) }, [row(store, object, include, form, Date.now())], form, first)
    first = false
    return jsonLine(type, made)
  }
  const shown: WatchEncoder['shown'] = (events, show) => Buffer.concat(events.map(event => {
    const found = show(event)
    if (found === undefined) return Buffer.alloc(0)
    const object = found.last ? (event.previous ?? event.entry).object : event.entry.object
    return wrapped(found.type, object, event.revision)
  }))
  return {
    type: 'application/json',
    added: entry => wrapped('ADDED', entry.object, entry.revision),
    shown,
    batch: events => shown(events, event => ({ type: event.type, event, last: false })),
    bookmark: revision => jsonLine('BOOKMARK', { ...table(store, { resourceVersion: String(revision) }, [], form, false), rows: [{ cells: [], object: bare(revision) }] }),
    failure: status => jsonLine('ERROR', status)
  }
}
