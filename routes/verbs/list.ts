/** GET of a collection: a head, the stored bytes of its items with commas between, a tail. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { encodeMessage, listJson, protobufListParts } from '../../schemas/index.js'
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../../schemas/media-types.js'
import { partialMetadata, partialMetadataMessage, toYaml } from '../../schemas/encodings.js'
import type { Entry } from '../../storage/cache/entry.js'
import { list } from '../../storage/operations/list.js'
import type { ListResult } from '../../storage/operations/list.js'
import type { ResourceStore } from '../../storage/resource-store.js'
import { listRequest, refuseInitialEvents } from '../query.js'
import { LARGE_BYTES, sendParts } from '../stream.js'
import { includeObject, row, table, transformVersion } from '../transform.js'
import type { Form } from '../transform.js'

type Part = readonly [Uint8Array, number]

interface ListMeta { resourceVersion: string, continue?: string, remainingItemCount?: number }

const COMMA = Buffer.from(',')
const BETWEEN: Part = [COMMA, 0]
const NOTHING: Part = [new Uint8Array(0), 0]
const bytes = (text: string): Part => [Buffer.from(text), 0]

export function metadataOf (result: ListResult): ListMeta {
  return {
    resourceVersion: String(result.revision),
    ...(result.continue === '' ? {} : { continue: result.continue }),
    ...(result.remaining === undefined ? {} : { remainingItemCount: result.remaining })
  }
}

export function listHandler (store: ResourceStore) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { query, info, accept } = request.orch
    refuseInitialEvents(query)
    const result = await list(store, { ...listRequest(query, store.definition, info.namespace), signal: request.orch.signal })
    const form = accept ?? { format: 'json', as: undefined, asVersion: 'v1', pretty: false } as const
    const { type, size, parts } = answer(request, store, result, form, form.pretty)
    if (size < LARGE_BYTES) {
      const whole: Uint8Array[] = []
      for (const [part, drop] of parts) whole.push(drop === 0 ? part : part.subarray(0, part.length - drop))
      return reply.header('content-type', type).send(Buffer.concat(whole))
    }
    await sendParts(request, reply, type, parts)
    return reply
  }
}

interface Answer {
  readonly type: string
  /** Estimated. */
  readonly size: number
  readonly parts: Iterable<Part>
}

function answer (request: FastifyRequest, store: ResourceStore, result: ListResult, form: Form, pretty: boolean): Answer {
  let size = 0
  for (const entry of result.entries) size += entry.json.length
  if (form.as !== undefined) return transformedAnswer(request, store, result, form, size, pretty)
  if (form.format === 'json' && !pretty) return { type: JSON_TYPE, size, parts: json(store, result) }
  if (form.format === 'protobuf') return { type: PROTOBUF_TYPE, size, parts: protobuf(store.definition, metadataOf(result), mapped(result.entries, messageOf(store))) }
  const head = { kind: store.definition.listKind, apiVersion: store.definition.apiVersion, metadata: metadataOf(result) }
  const items = mapped(result.entries, entry => entry.object)
  return form.format === 'yaml'
    ? { type: YAML_TYPE, size, parts: yaml(head, 'items', items) }
    : { type: JSON_TYPE, size, parts: indented(head, 'items', items) }
}

function * mapped<T> (entries: readonly Entry[], make: (entry: Entry) => T): Generator<T> {
  for (const entry of entries) yield make(entry)
}

function * json (store: ResourceStore, result: ListResult): Generator<Part> {
  const { head, tail } = listJson(store.definition, metadataOf(result))
  yield bytes(head)
  let first = true
  const item: [Uint8Array, number] = [COMMA, 1] // one for all: each is used up before the next is asked for
  for (const entry of result.entries) {
    if (first) first = false
    else yield BETWEEN
    item[0] = entry.json // without its newline
    yield item
  }
  yield bytes(`${tail}\n`)
}

/** Lengths stand before what they are the lengths of, so all items are encoded first; others have their turns meanwhile. */
function * protobuf (type: { apiVersion: string, listKind: string }, metadata: ListMeta, items: Iterable<Uint8Array>): Generator<Part> {
  const encoded: Uint8Array[] = []
  for (const item of items) {
    encoded.push(item)
    yield NOTHING
  }
  for (const part of protobufListParts(type, metadata, encoded)) yield [part, 0]
}

const messageOf = (store: ResourceStore) => (entry: Entry): Uint8Array => entry.derive('message', ({ object }) => encodeMessage(store.definition.message, object))

/** Members of `head`, then a list under `name`, all as they would stand in one document. */
function * indented (head: object, name: string, items: Iterable<object>): Generator<Part> {
  yield bytes(`${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${name}": [`)
  let first = true
  for (const item of items) {
    yield bytes(`${first ? '' : ','}\n    ${JSON.stringify(item, null, 2).replaceAll('\n', '\n    ')}`)
    first = false
  }
  yield bytes(`${first ? '' : '\n  '}]\n}`)
}

function * yaml (head: object, name: string, items: Iterable<object>): Generator<Part> {
  yield bytes(toYaml(head))
  let first = true
  for (const item of items) {
    yield bytes(`${first ? `${name}:\n` : ''}${toYaml([item])}`)
    first = false
  }
  if (first) yield bytes(`${name}: []\n`)
}

function * compact (head: object, name: string, items: Iterable<object>): Generator<Part> {
  yield bytes(`${JSON.stringify(head).slice(0, -1)},"${name}":[`)
  let first = true
  for (const item of items) {
    yield bytes(`${first ? '' : ','}${JSON.stringify(item)}`)
    first = false
  }
  yield bytes(']}\n')
}

function transformedAnswer (request: FastifyRequest, store: ResourceStore, result: ListResult, form: Form, size: number, pretty: boolean): Answer {
  const metadata = metadataOf(result)
  const write = form.format === 'yaml' ? yaml : pretty ? indented : compact
  const type = form.format === 'yaml' ? YAML_TYPE : JSON_TYPE
  if (form.as === 'Table') {
    const include = includeObject(request)
    const now = Date.now()
    const { rows, ...head } = table(store, metadata, [], form) as { rows: object[] }
    return { type, size, parts: write(head, 'rows', mapped(result.entries, entry => row(store, entry.object, include, form, now))) }
  }
  const version = transformVersion(form)
  const listKind = 'PartialObjectMetadataList'
  if (form.format === 'protobuf') return { type: PROTOBUF_TYPE, size, parts: protobuf({ apiVersion: version, listKind }, metadata, mapped(result.entries, entry => partialMetadataMessage(entry.object, version))) }
  const items = mapped(result.entries, entry => partialMetadata(entry.object, version))
  const head = { kind: listKind, apiVersion: version, metadata }
  return { type, size, parts: write(head, 'items', items) }
}
