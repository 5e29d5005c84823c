/** JSON: an object and an event are the stored bytes, a list joins them. Indented where a client asks for that. */
import { listJson, toJson } from '../../schemas/codec/json/encode.js'
import { stringify } from '../../schemas/codec/json/exact.js'
import { indentedItem } from '../../schemas/codec/json/indented.js'
import type { Message } from '../../schemas/language/types.js'
import { JSON_TYPE } from '../../schemas/media-types.js'
import type { Entry } from '../../storage/cache/entry.js'
import { jsonItems, STORED } from '../../storage/cache/leaf-bytes.js'
import type { Joined } from '../list-bytes.js'
import { metadataOf } from '../list-metadata.js'
import type { Naming } from '../../schemas/naming.js'
import type { View } from '../view.js'
import { chunk, chunkEnds } from '../watch/framing.js'
import {
  bookmarkObject, bytesOf, namedObject, preceded, type Events, type ShownList, type TextFormat
} from './format.js'
import { textEntry } from './text.js'

/** Of an object that is not stored. */
export const jsonOf = <T extends object>(naming: Naming, message: Message<T>, own: T): string =>
  toJson(naming.message(message), namedObject(naming, message, own))

export const COMPACT: TextFormat = {
  type: JSON_TYPE,
  slow: undefined,
  entry: ({ view }, stored) => view.entry(stored).json,
  object: (naming, message, own) => Buffer.from(`${jsonOf(naming, message, own)}
`),
  status: status => COMPACT.document(status),
  document: value => Buffer.from(`${stringify(value)}\n`),
  item: value => bytesOf(stringify(value) ?? 'null'),
  * listing (head, name, items) {
    yield bytesOf(`${JSON.stringify(head).slice(0, -1)},"${name}":[`)
    yield * preceded(items, first => first ? '' : ',')
    yield bytesOf(']}\n')
  }
}

export const INDENTED: TextFormat = {
  ...COMPACT,
  slow: 'indented',
  entry: (shown, stored) => textEntry(INDENTED, shown, stored),
  object: (naming, message, own) =>
    INDENTED.document(JSON.parse(jsonOf(naming, message, own)) as object),
  status: status => INDENTED.document(status),
  document: value => Buffer.from(stringify(value, 2) ?? ''),
  item: value => bytesOf(indentedItem(value)),
  * listing (head, name, items) {
    yield bytesOf(`${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${name}": [`)
    const some = yield * preceded(items, first => `${first ? '' : ','}\n    `)
    yield bytesOf(`${some ? '\n  ' : ''}]\n}`)
  }
}

export function jsonList ({ view, list }: ShownList): Joined {
  const { store, naming, isStored } = view
  const { listKind, apiVersion } = store.representation
  const { head, tail } = listJson({ listKind, apiVersion: naming.group(apiVersion) }, metadataOf(list, store))
  const ends = { head: Buffer.from(head), tail: Buffer.from(`${tail}\n`) }
  return { items: isStored ? STORED : jsonItems(view.id, stored => view.entry(stored).json), ends: () => ends }
}

export const jsonEvents = (view: View): Events => ({
  event: (type, stored) => jsonEvent(type, view.entry(stored)),
  added: (stored, chunked) => jsonAdded(view.isStored ? stored : stored.map(entry => view.entry(entry)), chunked),
  bookmark: revision => jsonLine('BOOKMARK', bookmarkObject(view, revision)),
  failure: status => jsonLine('ERROR', view.naming.status(status))
})

export const jsonLine = (type: string, object: object): Buffer => Buffer.from(`${stringify({ type, object })}\n`)

const NEWLINE_LENGTH = 1
const JSON_END = Buffer.from('}\n')
const ADDED = Buffer.from('{"type":"ADDED","object":')
const heads = new Map<string, Buffer>([['ADDED', ADDED]])

/** Wraps the stored bytes in an event, without parsing. */
function jsonEvent (type: string, { json }: Entry): Buffer {
  let head = heads.get(type)
  if (head === undefined) heads.set(type, head = Buffer.from(`{"type":"${type}","object":`))
  const bytes = Buffer.allocUnsafeSlow(head.length + json.length - NEWLINE_LENGTH + JSON_END.length)
  head.copy(bytes)
  json.copy(bytes, head.length, 0, json.length - NEWLINE_LENGTH)
  JSON_END.copy(bytes, bytes.length - JSON_END.length)
  return bytes
}

/** Many objects in one chunk: the initial state is by far the most that a watch sends, and is not shared. */
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

/** The initial state where each object is an event of its own. */
export const addedOneByOne = (event: Events['event']): Events['added'] => (entries, chunked) => {
  const bytes = Buffer.concat(entries.map(entry => event('ADDED', entry)))
  return chunked ? chunk(bytes) : bytes
}
