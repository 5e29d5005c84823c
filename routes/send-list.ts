/** GET of a collection: the items' stored bytes for JSON, otherwise each item encoded when it is sent. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { protobufListParts, indentedItem, writeText, stringify, encodeMessageOnce, listJson, type ApiObject, type Representation } from '../schemas/index.js'
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../schemas/media-types.js'
import { finish, type Steps } from '../schemas/steps.js'
import { CellBudget } from '../schemas/cell-budget.js'
import { partialMetadata, partialMetadataMessage, toYaml } from '../schemas/codec/encodings.js'
import { translateGroup } from '../schemas/compat/text.js'
import type { ListAnswer, ObjectList } from '../answers/answer.js'
import { metadataOf, type ListMetadata } from '../answers/list-metadata.js'
import type { Entry } from '../storage/cache/entry.js'
import { leafJson } from '../storage/cache/leaf-json.js'
import { publicEntry } from '../registry/public-entry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { withSpan } from '../registry/trace.js'
import { isLarge, nextTurn, turnIsOver } from '../event-loop/turns.js'
import { askerOf } from './body.js'
import { ListBytes, bytesOf, type LeafJson } from './list-bytes.js'
import { LARGE_BYTES, sendJoined, sendParts, typeFor } from './stream.js'
import { table, includeObject, publicObject, row, type RowForm, type TransformRequest } from './transform.js'

/** Up to this many JSON bytes, encoded items are cached for the next list. Larger lists would evict everything else and exceed the memory limit of a list. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024

const NOTHING = new Uint8Array(0)
const bytes = (text: string): Uint8Array => Buffer.from(text)

/** A part of a response: bytes, or a worker thread's promise of them; NOTHING between two steps of an item. */
type Part = Uint8Array | Promise<Uint8Array>

/** Each item allows this many extra milliseconds before a list counts as slow. */
const ALLOWANCE_PER_ITEM_MS = 0.1

export async function sendList (request: FastifyRequest, reply: FastifyReply, { store, list }: ListAnswer): Promise<void> {
  const { trace, accept } = request.orch
  const sorted = list.revision !== undefined && accept?.as === 'Table' ? await sortByRank(store, list) : list
  const result = list.revision === undefined ? list : await toVersion(store, sorted)
  const count = result.entries.length
  trace.allowance = count * ALLOWANCE_PER_ITEM_MS
  await withSpan(trace, 'SerializeObject', () => writeList(request, reply, store, result), { count })
}

async function writeList (request: FastifyRequest, reply: FastifyReply, store: ResourceStore, found: ObjectList): Promise<void> {
  const { accept, recorder, publicNames } = request.orch
  if (recorder?.wantsResponse === true) await recordList(request, recorder, store, found)
  const result = publicNames && accept?.as === undefined ? await toPublic(store, found) : found
  const requested = accept ?? { format: 'json', as: undefined, asVersion: 'meta.orch.io/v1', pretty: false } as const
  if (requested.format === 'json' && requested.as === undefined && !requested.pretty) {
    const { head, tail } = listJson(representationFor(request, store), metadataOf(result, store))
    const ready = await leavesJson(result)
    await sendJoined(request, reply, JSON_TYPE, new ListBytes(head, result.entries, await bytesOf(result.entries, ready), `${tail}\n`, ready))
    return
  }
  const size = await bytesOf(result.entries)
  const { type, parts } = encodeList(request, store, result, requested, size <= MAX_KEPT_BYTES)
  if (size < LARGE_BYTES) {
    const whole: Uint8Array[] = []
    for (const part of parts) {
      whole.push(Buffer.from(part instanceof Promise ? await part : part)) // copy: the next part may reuse the memory
      if (turnIsOver()) await nextTurn()
    }
    void reply.header('content-type', typeFor(request, type)).send(Buffer.concat(whole))
    return
  }
  await sendParts(request, reply, type, parts)
}

/** Converts entries to the requested version. Yields to the event loop. */
async function toVersion (store: ResourceStore, result: ObjectList): Promise<ObjectList> {
  if (store.representation.conversion === undefined) return result
  const { leaves: _, ...rest } = result
  const entries: Entry[] = []
  for (const entry of result.entries) {
    entries.push(store.toVersion(entry))
    if (turnIsOver()) await nextTurn()
  }
  return { ...rest, entries }
}

/** Translates entries to public names. Yields to the event loop. */
async function toPublic (store: ResourceStore, { leaves: _, ...rest }: ObjectList): Promise<ObjectList> {
  const entries: Entry[] = []
  for (const entry of rest.entries) {
    entries.push(publicEntry(store, entry))
    if (turnIsOver()) await nextTurn()
  }
  return { ...rest, entries }
}

/** Sorts entries for a Table, if its order differs from that of lists. Yields to the event loop. */
async function sortByRank (store: ResourceStore, result: ObjectList): Promise<ObjectList> {
  const { tableRank } = store.type
  if (tableRank === undefined) return result
  const { leaves: _, ...rest } = result
  const ranks = new Map<Entry, number>()
  for (const entry of result.entries) {
    ranks.set(entry, tableRank(entry.read()))
    if (turnIsOver()) await nextTurn()
  }
  // A stable sort keeps lists, which are in name order, when ranks are equal.
  return { ...rest, entries: [...result.entries].sort((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0)) }
}

/** The bytes of whole cache leaves, cached for later lists. Yields to the event loop. */
async function leavesJson ({ leaves = [] }: ObjectList): Promise<LeafJson[]> {
  const ready: LeafJson[] = []
  for (const { at, entries } of leaves) {
    if (turnIsOver()) await nextTurn()
    const bytes = leafJson(entries)
    if (bytes !== undefined) ready.push({ at, count: entries.length, bytes })
  }
  return ready
}

interface ListTransform extends TransformRequest { readonly pretty: boolean }

interface EncodedList {
  readonly type: string
  /** Each part is copied before the next one is created. */
  readonly parts: Iterable<Part>
}

/** The kind and apiVersion of a list as the client calls them. */
const representationFor = ({ orch: { publicNames } }: FastifyRequest, { representation }: ResourceStore): Pick<Representation, 'listKind' | 'apiVersion'> =>
  publicNames
    ? { listKind: representation.listKind, apiVersion: translateGroup(representation.apiVersion) }
    : representation

/** Encodes a list. `keep`: cache the encoded items with their entries. */
function encodeList (request: FastifyRequest, store: ResourceStore, result: ObjectList, requested: ListTransform, keep: boolean): EncodedList {
  const objectOf = keep ? (entry: Entry) => entry.object : (entry: Entry) => entry.read()
  const { representation } = store
  const { publicNames } = request.orch
  if (requested.as !== undefined) return encodeTransformed(request, store, result, { requested, objectOf, publicNames })
  if (requested.format === 'protobuf') {
    const { message } = representation
    const encode = keep
      ? (entry: Entry) => entry.derive('message', made => Buffer.from(encodeMessageOnce(message, made.encodable())))
      : (entry: Entry) => encodeMessageOnce(message, entry.encodable())
    return { type: PROTOBUF_TYPE, parts: protobuf(representationFor(request, store), metadataOf(result, store), result.entries, encode) }
  }
  const { listKind, apiVersion } = representationFor(request, store)
  const head = { kind: listKind, apiVersion, metadata: metadataOf(result, store) }
  const writer = writerOf(requested)
  const item = (entry: Entry): Part => isLarge(entry.json.length) ? writtenByThread(request, entry.json, requested) : writer.item(objectOf(entry))
  return { type: writer.type, parts: writer.list(head, 'items', mapEntries(result.entries, item)) }
}

/** Larger responses are not recorded. */
const MAX_RECORDED_BYTES = 2 * 1024 * 1024

type Recorder = NonNullable<FastifyRequest['orch']['recorder']>

/** Records the response in the audit event: the list, or its transformed form. */
async function recordList (request: FastifyRequest, recorder: Recorder, store: ResourceStore, result: ObjectList): Promise<void> {
  if (await bytesOf(result.entries) > MAX_RECORDED_BYTES) return recorder.tooLarge()
  const { as, asVersion = 'meta.orch.io/v1' } = request.orch.accept ?? {}
  if (as === undefined) {
    const { head, tail } = listJson(store.representation, metadataOf(result, store))
    const itemOf = ({ json }: Entry): string => json.toString('utf8', 0, json.length - 1)
    return recorder.response(() => `${head}${result.entries.map(itemOf).join(',')}${tail}`)
  }
  const requested = { format: 'json', as, asVersion, pretty: false } as const
  const ownForm: TransformedList = { requested, objectOf: entry => entry.read(), publicNames: false }
  const { parts } = encodeTransformed(request, store, result, ownForm)
  let text = ''
  for (const part of parts) {
    if (!(part instanceof Promise)) text += Buffer.from(part).toString()
    if (turnIsOver()) await nextTurn()
  }
  recorder.response(() => text)
}

function * mapEntries<T> (entries: readonly Entry[], make: (entry: Entry) => T): Generator<T> {
  for (const entry of entries) yield make(entry)
}

/**
 * Lengths precede their contents, so all items are encoded once for their lengths, yielding to the event loop. Small lists keep the results with the entries;
 * for others each item is encoded again when it is sent, to avoid holding the whole list.
 */
function * protobuf (type: { apiVersion: string, listKind: string }, metadata: ListMetadata, entries: readonly Entry[], encode: (entry: Entry) => Uint8Array): Generator<Uint8Array> {
  const lengths: number[] = []
  for (const entry of entries) {
    lengths.push(encode(entry).length)
    yield NOTHING
  }
  yield * protobufListParts(type, metadata, lengths, mapEntries(entries, encode))
}

/** Writes a list in one format: the members of `head`, then a list named `name`, formatted as one document. */
interface ListWriter {
  readonly type: string
  readonly list: (head: object, name: string, items: Iterable<Part>) => Generator<Part>
  readonly item: (value: object) => Uint8Array
}

const YAML_WRITER: ListWriter = { type: YAML_TYPE, list: yaml, item: value => bytes(toYaml([value])) }
const INDENTED_WRITER: ListWriter = { type: JSON_TYPE, list: indented, item: value => bytes(indentedItem(value)) }
const COMPACT_WRITER: ListWriter = { type: JSON_TYPE, list: compact, item: value => bytes(stringify(value) ?? 'null') }

/** Formats a large item in a worker thread. @param json compact */
const writtenByThread = (request: FastifyRequest, json: Uint8Array, { format }: ListTransform): Promise<Uint8Array> =>
  writeText(json, { format: format === 'yaml' ? 'yaml' : 'indented', item: true }, askerOf(request))

const writerOf = ({ format, pretty }: ListTransform): ListWriter => format === 'yaml' ? YAML_WRITER : pretty ? INDENTED_WRITER : COMPACT_WRITER

function * indented (head: object, name: string, items: Iterable<Part>): Generator<Part> {
  yield bytes(`${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${name}": [`)
  const some = yield * preceded(items, first => `${first ? '' : ','}\n    `)
  yield bytes(`${some ? '\n  ' : ''}]\n}`)
}

function * yaml (head: object, name: string, items: Iterable<Part>): Generator<Part> {
  yield bytes(toYaml(head))
  const some = yield * preceded(items, first => first ? `${name}:\n` : '')
  if (!some) yield bytes(`${name}: []\n`)
}

function * compact (head: object, name: string, items: Iterable<Part>): Generator<Part> {
  yield bytes(`${JSON.stringify(head).slice(0, -1)},"${name}":[`)
  yield * preceded(items, first => first ? '' : ',')
  yield bytes(']}\n')
}

/** The items with the text before each. @returns whether there are any */
function * preceded (items: Iterable<Part>, before: (first: boolean) => string): Generator<Part, boolean> {
  let first = true
  for (const item of items) {
    if (item !== NOTHING) {
      const text = before(first)
      if (text !== '') yield bytes(text)
      first = false
    }
    yield item
  }
  return !first
}

interface TransformedList {
  readonly requested: ListTransform
  readonly objectOf: (entry: Entry) => ApiObject
  readonly publicNames: boolean
}

function encodeTransformed (
  request: FastifyRequest, store: ResourceStore, result: ObjectList, transformed: TransformedList
): EncodedList {
  const { requested, objectOf, publicNames } = transformed
  const metadata = metadataOf(result, store)
  const { type, list, item } = writerOf(requested)
  const written = (entry: Entry, value: object): Part => isLarge(entry.json.length) && item !== COMPACT_WRITER.item ? writtenByThread(request, COMPACT_WRITER.item(value), requested) : item(value)
  if (requested.as === 'Table') {
    const budget = new CellBudget(result.entries.length)
    const form: RowForm = { include: includeObject(request), publicNames, now: store.clock.wall(), budget }
    const { rows, ...head } = table(store.representation, metadata, [], requested) as { rows: object[] }
    const inSteps = function * (): Generator<Part> {
      for (const entry of result.entries) {
        const steps = row(store.representation, objectOf(entry), requested, form)
        if (!isLarge(entry.json.length)) yield written(entry, finish(steps))
        else yield written(entry, yield * pausing(steps))
      }
    }
    return { type, parts: list(head, 'rows', inSteps()) }
  }
  const shown = publicNames ? (entry: Entry) => publicObject(store.representation, objectOf(entry)) : objectOf
  const version = requested.asVersion
  const listKind = 'PartialObjectMetadataList'
  if (requested.format === 'protobuf') return { type: PROTOBUF_TYPE, parts: protobuf({ apiVersion: version, listKind }, metadata, result.entries, entry => partialMetadataMessage(shown(entry), version)) }
  const items = mapEntries(result.entries, entry => written(entry, partialMetadata(shown(entry), version)))
  const head = { kind: listKind, apiVersion: version, metadata }
  return { type, parts: list(head, 'items', items) }
}

/** Yields nothing between the steps, so that the response may wait for a later turn. */
function * pausing<T> (steps: Steps<T>): Generator<Part, T> {
  for (;;) {
    yield NOTHING
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
