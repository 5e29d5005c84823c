/** JSON: an object and an event are the stored bytes, a list joins them. Indented where a client asks for that. */
import { listJson, toJson } from '../../schemas/codec/json/encode.js'
import { stringify } from '../../schemas/codec/json/exact.js'
import { indentedItem } from '../../schemas/codec/json/indented.js'
import type { Message } from '../../schemas/language/types.js'
import { JSON_TYPE } from '../../schemas/media-types.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import type { Entry } from '../../storage/cache/entry.js'
import { leafJson } from '../../storage/cache/leaf-json.js'
import type { ObjectList } from '../answer.js'
import { ListBytes, sizeOf, type LeafJson } from '../list-bytes.js'
import { metadataOf } from '../list-metadata.js'
import type { Naming } from '../../schemas/naming.js'
import type { View } from '../view.js'
import { chunk, chunkEnds } from '../watch/framing.js'
import { bookmarkObject, bytesOf, namedObject, preceded, type Events, type TextFormat } from './format.js'
import { textEntry, textList } from './text.js'

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
  list: shown => textList(COMPACT, shown),
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
  list: shown => textList(INDENTED, shown),
  * listing (head, name, items) {
    yield bytesOf(`${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${name}": [`)
    const some = yield * preceded(items, first => `${first ? '' : ','}\n    `)
    yield bytesOf(`${some ? '\n  ' : ''}]\n}`)
  }
}

/** The bytes of all entries between head and tail; whole leaves of the cache are shared with other lists. */
export async function joinedList (view: View, list: ObjectList): Promise<ListBytes> {
  const { store, naming } = view
  const { listKind, apiVersion } = store.representation
  const { head, tail } = listJson({ listKind, apiVersion: naming.group(apiVersion) }, metadataOf(list, store))
  const ready = await leavesOf(list, view)
  const entries = view.isStored ? list.entries : await shownBeside(list.entries, ready, view)
  return new ListBytes({ head, tail: `${tail}\n` }, entries, await sizeOf(entries, ready), ready)
}

/** The bytes of whole cache leaves, cached for later lists. Yields to the event loop. */
async function leavesOf ({ leaves = [] }: ObjectList, view: View): Promise<LeafJson[]> {
  const ready: LeafJson[] = []
  for (const { at, entries } of leaves) {
    if (turnIsOver()) await nextTurn()
    const bytes = leafJson(entries, view.isStored ? undefined : view)
    if (bytes !== undefined) ready.push({ at, count: entries.length, bytes })
  }
  return ready
}

/** The entries as they are shown, except those whose bytes are ready. Yields to the event loop. */
async function shownBeside (
  entries: readonly Entry[], ready: readonly LeafJson[], view: View
): Promise<readonly Entry[]> {
  const shown = [...entries]
  let at = 0
  for (const { at: stop, count } of [...ready, { at: entries.length, count: 0 }]) {
    for (; at < stop; at++) {
      shown[at] = view.entry(entries[at] as Entry) // before the end
      if (turnIsOver()) await nextTurn()
    }
    at += count
  }
  return shown
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
