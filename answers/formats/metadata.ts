/** The metadata of objects alone, PartialObjectMetadata, as JSON, YAML or protobuf. */
import { partialMetadata } from '../../schemas/codec/encodings.js'
import {
  envelopeOf, encodeProtobuf, protobufListEnds, protobufWatchFrame, protobufWatchFrames
} from '../../schemas/codec/protobuf/encode.js'
import type { Message } from '../../schemas/language/declare.js'
import { PartialObjectMetadata } from '../../schemas/meta/answers.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { Items } from '../../storage/cache/leaf-bytes.js'
import { metadataOf } from '../list-metadata.js'
import type { StoredView } from '../stored-view.js'
import { OWN_VIEW, type View } from '../view.js'
import {
  bytesOf, mapped, type Events, type Form, type Joined, type Parts, type ShownList, type Stream, type TextForm,
  type Unstored
} from './format.js'
import { ADDED, COMPACT, JSON_STREAM, jsonLine, wrapped } from './json.js'
import { messageItems, PROTOBUF, PROTOBUF_STREAM } from './protobuf.js'
import { textOf, textPart } from './text.js'

const KIND = 'PartialObjectMetadata'
const LIST_KIND = 'PartialObjectMetadataList'
const END = bytesOf('}')
const LAST = bytesOf('}\n')
const BETWEEN = bytesOf('},')
const EVENT_END = bytesOf('}}\n')

/** @param version meta.orch.io/v1 or meta.orch.io/v1beta1 */
export function textMetadata (text: TextForm, version: string): Form {
  const head = headOfMetadata(version)
  return {
    type: text.type,
    shape: { protobuf: false, metadata: true },
    entry: ({ view, asker }, stored) => textOf(text, Buffer.concat([head, view.metadata(stored), LAST]), asker),
    list: shown => text === COMPACT ? jsonList(shown, version) : textList(text, shown, version),
    stream: jsonStream(version),
    object: (view, own) => text.object(...partial(view, own, version))
  }
}

/** @param apiVersion meta.orch.io/v1 or meta.orch.io/v1beta1 */
export const protobufMetadata = (apiVersion: string): Form => ({
  type: PROTOBUF.type,
  shape: { protobuf: true, metadata: true },
  entry: ({ view }, stored) => envelopeOf({ apiVersion, kind: KIND }, view.metadataMessage(stored)),
  list: shown => protobufList(shown, apiVersion),
  stream: protobufStream(apiVersion),
  object: (view, own) => PROTOBUF.object(...partial(view, own, apiVersion))
})

/** As JSON, before its end. */
export const headOfMetadata = (version: string): Uint8Array =>
  bytesOf(`{"kind":"${KIND}","apiVersion":"${version}","metadata":`)

/** Where the object has columns of its own, its message says what of the metadata has names. */
function partial (view: View, whole: Unstored, version: string): [View, Unstored] {
  const { object, forms } = whole
  const message = PartialObjectMetadata as Message<object>
  const own = object as ApiObject // those without metadata have no such form
  if (typeof forms !== 'object') return [view, { ...whole, message, object: partialMetadata(own, version) }]
  return [OWN_VIEW, { message, object: partialMetadata(view.shownCopy(forms.tabular.message, own), version) }]
}

function jsonList ({ view, list }: ShownList, version: string): Joined {
  const metadata = metadataOf(list, view.store)
  const start = JSON.stringify({ kind: LIST_KIND, apiVersion: version, metadata }).slice(0, -1)
  const ends = { head: Buffer.from(`${start},"items":[`), tail: Buffer.from(']}\n') }
  const kept = { id: `${view.id} metadata ${version}`, body: (stored: Entry) => view.metadata(stored) }
  return { items: { ...wrapped(kept, headOfMetadata(version), BETWEEN), separator: 1 }, ends: () => ends }
}

function textList (text: TextForm, { view, list, asker }: ShownList, version: string): Parts {
  const head = headOfMetadata(version)
  const items = mapped(list.entries, stored =>
    textPart(text, Buffer.concat([head, view.metadata(stored), END]), asker))
  return text.listing({ kind: LIST_KIND, apiVersion: version, metadata: metadataOf(list, view.store) }, 'items', items)
}

function protobufList ({ view, list }: ShownList, apiVersion: string): Joined {
  const metadata = metadataOf(list, view.store)
  const items = messageItems(`${view.id} metadata as protobuf`, stored => view.metadataMessage(stored))
  return { items, ends: size => protobufListEnds({ apiVersion, listKind: LIST_KIND }, metadata, size) }
}

const bookmarkOf = (view: StoredView, apiVersion: string) => (...mark: Parameters<Events['bookmark']>): ApiObject =>
  ({ ...view.bookmark(...mark), kind: KIND, apiVersion })

const addedId = (view: StoredView, version: string): string => `${view.id} metadata ${version} ADDED`

function jsonStream (version: string): Stream {
  const head = headOfMetadata(version)
  const addedHead = Buffer.concat([ADDED, head])
  return {
    ...JSON_STREAM,
    id: `metadata ${version}`,
    shape: { protobuf: false, metadata: true },
    events: view => ({
      ...JSON_STREAM.events(view),
      event: (type, stored) =>
        Buffer.concat([bytesOf(`{"type":"${type}","object":`), head, view.metadata(stored), EVENT_END]),
      added: {
        ...wrapped({ id: addedId(view, version), body: stored => view.metadata(stored) }, addedHead, EVENT_END),
        separator: 0
      },
      bookmark: (...mark) => jsonLine('BOOKMARK', bookmarkOf(view, version)(...mark))
    })
  }
}

const protobufStream = (apiVersion: string): Stream => ({
  ...PROTOBUF_STREAM,
  id: `metadata ${apiVersion} as protobuf`,
  shape: { protobuf: true, metadata: true },
  events: view => ({
    ...PROTOBUF_STREAM.events(view),
    event: (type, stored) =>
      protobufWatchFrame(type, envelopeOf({ apiVersion, kind: KIND }, view.metadataMessage(stored))),
    added: {
      id: `${addedId(view, apiVersion)} as protobuf`,
      body: stored => view.metadataMessage(stored),
      ...protobufWatchFrames('ADDED', { apiVersion, kind: KIND }),
      separator: 0
    } satisfies Items,
    bookmark: (...mark) =>
      protobufWatchFrame('BOOKMARK', encodeProtobuf(PartialObjectMetadata, bookmarkOf(view, apiVersion)(...mark)))
  })
})
