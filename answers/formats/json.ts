/** JSON: an object and an event are the stored bytes, a list joins them. Indented where a client asks for that. */
import { listJson } from '../../schemas/codec/json/encode.js'
import { stringify } from '../../schemas/codec/json/exact.js'
import { indentedItem } from '../../schemas/codec/json/indented.js'
import { JSON_TYPE } from '../../schemas/media-types.js'
import type { Entry } from '../../storage/cache/entry.js'
import { jsonItems, STORED, type Items } from '../../storage/cache/leaf-bytes.js'
import { metadataOf } from '../list-metadata.js'
import type { StoredView } from '../stored-view.js'
import { bytesOf, preceded, type Events, type Joined, type ShownList, type Stream, type TextForm } from './format.js'
import { TEXT, textForm } from './text.js'

export const JSON_STREAM: Stream = { type: JSON_TYPE, id: 'json', shape: TEXT, events: jsonEvents }

export const COMPACT: TextForm = {
  type: JSON_TYPE,
  shape: TEXT,
  stream: JSON_STREAM,
  slow: undefined,
  entry: ({ view }, stored) => view.entry(stored).json,
  list: jsonList,
  object: (view, { message, object, omitsUnsetTimes }) =>
    Buffer.from(`${view.json(message, object, omitsUnsetTimes)}\n`),
  status: status => COMPACT.document(status),
  document: value => Buffer.from(`${stringify(value)}\n`),
  item: value => bytesOf(stringify(value) ?? 'null'),
  * listing (head, name, items) {
    yield bytesOf(`${JSON.stringify(head).slice(0, -1)},"${name}":[`)
    yield * preceded(items, first => first ? '' : ',')
    yield bytesOf(']}\n')
  }
}

export const INDENTED = textForm({
  type: JSON_TYPE,
  slow: 'indented',
  document: value => Buffer.from(stringify(value, 2) ?? ''),
  item: value => bytesOf(indentedItem(value)),
  * listing (head, name, items) {
    yield bytesOf(`${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${name}": [`)
    const some = yield * preceded(items, first => `${first ? '' : ','}\n    `)
    yield bytesOf(`${some ? '\n  ' : ''}]\n}`)
  }
}, JSON_STREAM)

function jsonList ({ view, list }: ShownList): Joined {
  const { store, apiVersion, isStored } = view
  const { head, tail } = listJson({ listKind: store.representation.listKind, apiVersion }, metadataOf(list, store))
  const ends = { head: Buffer.from(head), tail: Buffer.from(`${tail}\n`) }
  return { items: isStored ? STORED : jsonItems(view.id, stored => view.entry(stored).json), ends: () => ends }
}

function jsonEvents (view: StoredView): Events {
  return {
    event: (type, stored) => jsonEvent(type, view.entry(stored)),
    added: {
      ...wrapped({ id: `${view.id} ADDED`, body: stored => view.entry(stored).json }, ADDED, JSON_END, NEWLINE_LENGTH),
      separator: 0
    },
    bookmark: (revision, isMark) => jsonLine('BOOKMARK', view.bookmark(revision, isMark)),
    failure: status => jsonLine('ERROR', view.status(status))
  }
}

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
    into.set(tail, at += bytes.length - cut) // overwrites what is cut
    return at + tail.length
  }
})
