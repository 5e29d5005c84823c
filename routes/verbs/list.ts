/** GET of a collection: its items' stored bytes where JSON is asked for, else each in its form, made when its turn comes. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { encodeMessageOnce, listJson, protobufListParts } from '../../schemas/index.js'
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../../schemas/media-types.js'
import { partialMetadata, partialMetadataMessage, toYaml } from '../../schemas/encodings.js'
import type { ApiObject } from '../../schemas/index.js'
import type { Entry } from '../../storage/cache/entry.js'
import { joinedRun } from '../../storage/cache/joined-run.js'
import { list } from '../../storage/operations/list.js'
import type { ListResult } from '../../storage/operations/list.js'
import type { ResourceStore } from '../../storage/resource-store.js'
import { nextTurn, turnIsOver } from '../../storage/turns.js'
import { listRequest, refuseInitialEvents } from '../query.js'
import { Joined, bytesOf } from '../joined.js'
import type { Ready } from '../joined.js'
import { LARGE_BYTES, sendJoined, sendParts } from '../stream.js'
import { includeObject, row, table, transformVersion } from '../transform.js'
import type { Form } from '../transform.js'

interface ListMeta { resourceVersion: string, continue?: string, remainingItemCount?: number }

/**
 * Bytes of JSON up to which what is made for a list is kept for the next one. Of larger lists each form would push
 * the others out, and hold more than the list itself is allowed to.
 */
const KEPT_BYTES = 16 * 1024 * 1024

const NOTHING = new Uint8Array(0)
const bytes = (text: string): Uint8Array => Buffer.from(text)

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
    const result = await list(store, listRequest(query, store.definition, info.namespace, request.orch))
    const form = accept ?? { format: 'json', as: undefined, asVersion: 'v1', pretty: false } as const
    if (form.format === 'json' && form.as === undefined && !form.pretty) {
      const { head, tail } = listJson(store.definition, metadataOf(result))
      const ready = await readyOf(result)
      await sendJoined(request, reply, JSON_TYPE, new Joined(head, result.entries, await bytesOf(result.entries, ready), `${tail}\n`, ready))
      return reply
    }
    const size = await bytesOf(result.entries)
    const { type, parts } = answer(request, store, result, form, size <= KEPT_BYTES)
    if (size < LARGE_BYTES) {
      const whole: Uint8Array[] = []
      for (const part of parts) whole.push(Buffer.from(part)) // a copy: the next one may be made in the same memory
      return reply.header('content-type', type).send(Buffer.concat(whole))
    }
    await sendParts(request, reply, type, parts)
    return reply
  }
}

/** What earlier lists have joined, or this one joins for those to come; others have their turns meanwhile. */
async function readyOf ({ runs = [] }: ListResult): Promise<Ready[]> {
  const ready: Ready[] = []
  for (const { at, entries } of runs) {
    if (turnIsOver()) await nextTurn()
    const bytes = joinedRun(entries)
    if (bytes !== undefined) ready.push({ at, count: entries.length, bytes })
  }
  return ready
}

interface ListForm extends Form { readonly pretty: boolean }

interface Answer {
  readonly type: string
  /** Each is copied before the next is asked for. */
  readonly parts: Iterable<Uint8Array>
}

/** `keep`: what is made of an entry stays with it for a while. */
function answer (request: FastifyRequest, store: ResourceStore, result: ListResult, form: ListForm, keep: boolean): Answer {
  const objectOf = keep ? (entry: Entry) => entry.object : (entry: Entry) => entry.read()
  const { definition } = store
  if (form.as !== undefined) return transformedAnswer(request, store, result, form, objectOf)
  if (form.format === 'protobuf') {
    const { message } = definition
    const encode = keep
      ? (entry: Entry) => entry.derive('message', made => Buffer.from(encodeMessageOnce(message, made.read())))
      : (entry: Entry) => encodeMessageOnce(message, entry.read())
    return { type: PROTOBUF_TYPE, parts: protobuf(definition, metadataOf(result), result.entries, encode) }
  }
  const head = { kind: definition.listKind, apiVersion: definition.apiVersion, metadata: metadataOf(result) }
  const items = mapped(result.entries, objectOf)
  return form.format === 'yaml'
    ? { type: YAML_TYPE, parts: yaml(head, 'items', items) }
    : { type: JSON_TYPE, parts: indented(head, 'items', items) }
}

function * mapped<T> (entries: readonly Entry[], make: (entry: Entry) => T): Generator<T> {
  for (const entry of entries) yield make(entry)
}

/**
 * Lengths stand before what they are the lengths of, so all items are encoded for their lengths first, while others
 * have their turns. What comes of it is only held with the entries, where that is little; else each is encoded again
 * when it is sent, as a list would else be held as a whole.
 */
function * protobuf (type: { apiVersion: string, listKind: string }, metadata: ListMeta, entries: readonly Entry[], encode: (entry: Entry) => Uint8Array): Generator<Uint8Array> {
  const lengths: number[] = []
  for (const entry of entries) {
    lengths.push(encode(entry).length)
    yield NOTHING
  }
  yield * protobufListParts(type, metadata, lengths, mapped(entries, encode))
}

/** Members of `head`, then a list under `name`, all as they would stand in one document. */
function * indented (head: object, name: string, items: Iterable<object>): Generator<Uint8Array> {
  yield bytes(`${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${name}": [`)
  let first = true
  for (const item of items) {
    yield bytes(`${first ? '' : ','}\n    ${JSON.stringify(item, null, 2).replaceAll('\n', '\n    ')}`)
    first = false
  }
  yield bytes(`${first ? '' : '\n  '}]\n}`)
}

function * yaml (head: object, name: string, items: Iterable<object>): Generator<Uint8Array> {
  yield bytes(toYaml(head))
  let first = true
  for (const item of items) {
    yield bytes(`${first ? `${name}:\n` : ''}${toYaml([item])}`)
    first = false
  }
  if (first) yield bytes(`${name}: []\n`)
}

function * compact (head: object, name: string, items: Iterable<object>): Generator<Uint8Array> {
  yield bytes(`${JSON.stringify(head).slice(0, -1)},"${name}":[`)
  let first = true
  for (const item of items) {
    yield bytes(`${first ? '' : ','}${JSON.stringify(item)}`)
    first = false
  }
  yield bytes(']}\n')
}

function transformedAnswer (request: FastifyRequest, store: ResourceStore, result: ListResult, form: ListForm, objectOf: (entry: Entry) => ApiObject): Answer {
  const metadata = metadataOf(result)
  const write = form.format === 'yaml' ? yaml : form.pretty ? indented : compact
  const type = form.format === 'yaml' ? YAML_TYPE : JSON_TYPE
  if (form.as === 'Table') {
    const include = includeObject(request)
    const now = Date.now()
    const { rows, ...head } = table(store, metadata, [], form) as { rows: object[] }
    return { type, parts: write(head, 'rows', mapped(result.entries, entry => row(store, objectOf(entry), include, form, now))) }
  }
  const version = transformVersion(form)
  const listKind = 'PartialObjectMetadataList'
  if (form.format === 'protobuf') return { type: PROTOBUF_TYPE, parts: protobuf({ apiVersion: version, listKind }, metadata, result.entries, entry => partialMetadataMessage(objectOf(entry), version)) }
  const items = mapped(result.entries, entry => partialMetadata(objectOf(entry), version))
  const head = { kind: listKind, apiVersion: version, metadata }
  return { type, parts: write(head, 'items', items) }
}
