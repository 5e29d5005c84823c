/** JSON: an object and an event are the stored bytes, a list joins them. Indented where a client asks for that. */
import { listJson, toJson } from '../../schemas/codec/json/encode.js'
import { stringify } from '../../schemas/codec/json/exact.js'
import { indentedItem } from '../../schemas/codec/json/indented.js'
import type { Message } from '../../schemas/language/types.js'
import { JSON_TYPE } from '../../schemas/media-types.js'
import type { Entry } from '../../storage/cache/entry.js'
import { jsonItems, STORED, type Items } from '../../storage/cache/leaf-bytes.js'
import type { Joined } from '../list-bytes.js'
import { metadataOf } from '../list-metadata.js'
import type { Naming } from '../../schemas/naming.js'
import type { View } from '../view.js'
import {
  bookmarkObject, bytesOf, namedObject, preceded, type Events, type ShownList, type TextFormat
} from './format.js'
import { textEntry } from './text.js'

/** Of an object that is not stored. */
export const jsonOf = <T extends object>(naming: Naming, message: Message<T>, own: T, omits = false): string =>
  toJson(naming.message(message), namedObject(naming, message, own), undefined, omits)

export const COMPACT: TextFormat = {
  type: JSON_TYPE,
  slow: undefined,
  entry: ({ view }, stored) => view.entry(stored).json,
  object: (naming, message, own, omits) => Buffer.from(`${jsonOf(naming, message, own, omits)}
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
  object: (naming, message, own, omits) =>
    INDENTED.document(JSON.parse(jsonOf(naming, message, own, omits)) as object),
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
  added: {
    ...wrapped({ id: `${view.id} ADDED`, body: stored => view.entry(stored).json }, ADDED, JSON_END, NEWLINE_LENGTH),
    separator: 0
  },
  bookmark: (revision, isMark) => jsonLine('BOOKMARK', bookmarkObject(view, revision, isMark)),
  failure: status => jsonLine('ERROR', view.naming.status(status))
})

export const jsonLine = (type: string, object: object): Buffer => Buffer.from(`${stringify({ type, object })}\n`)

const NEWLINE_LENGTH = 1
const JSON_END = Buffer.from('}\n')
export const ADDED = Buffer.from('{"type":"ADDED","object":')
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

/** Items that are a kept body between two texts. @param cut bytes at the end of each body that are left out */
export const wrapped = (
  { id, body }: Pick<Items, 'id' | 'body'>, head: Uint8Array, tail: Uint8Array, cut = 0
): Omit<Items, 'separator'> => ({
  id,
  body,
  size: ({ length }) => head.length + length - cut + tail.length,
  write: (into, at, bytes) => {
    into.set(head, at)
    into.set(bytes, at += head.length)
    into.set(tail, at += bytes.length - cut) // overwrites what is cut: cheaper than a view without it
    return at + tail.length
  }
})
