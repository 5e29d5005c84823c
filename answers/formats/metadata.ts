/** The metadata of objects alone, PartialObjectMetadata, as JSON, YAML or protobuf. */
import {
  envelopeOf, encodeProtobuf, protobufListEnds, protobufWatchFrame, protobufWatchFrames
} from '../../schemas/codec/protobuf/encode.js'
import { PartialObjectMetadata } from '../../schemas/meta/answers.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { Items } from '../../storage/cache/leaf-bytes.js'
import type { Joined } from '../list-bytes.js'
import { metadataOf } from '../list-metadata.js'
import type { View } from '../view.js'
import {
  bookmarkObject, bytesOf, isText, mapped, type Events, type Format, type Parts, type ShownEntry, type ShownList,
  type TextFormat
} from './format.js'
import { ADDED, jsonEvents, jsonLine, wrapped } from './json.js'
import { messageItems, protobufEvents } from './protobuf.js'
import { textOf, textPart } from './text.js'

const KIND = 'PartialObjectMetadata'
const LIST_KIND = 'PartialObjectMetadataList'
const END = bytesOf('}')
const LAST = bytesOf('}\n')
const BETWEEN = bytesOf('},')
const EVENT_END = bytesOf('}}\n')

/** As JSON, before its end. @param version meta.orch.io/v1 or meta.orch.io/v1beta1 */
export const headOfMetadata = (version: string): Uint8Array =>
  bytesOf(`{"kind":"${KIND}","apiVersion":"${version}","metadata":`)

/** Compact JSON. */
export const metadataJson = (view: View, stored: Entry, version: string): Buffer =>
  Buffer.concat([headOfMetadata(version), view.metadata(stored), END])

export function metadataEntry (
  format: Format, { view, asker }: ShownEntry, stored: Entry, version: string
): Buffer | Promise<Buffer> {
  return isText(format)
    ? textOf(format, Buffer.concat([headOfMetadata(version), view.metadata(stored), LAST]), asker)
    : enveloped(view, stored, version)
}

const enveloped = (view: View, stored: Entry, apiVersion: string): Buffer =>
  envelopeOf({ apiVersion, kind: KIND }, view.metadataMessage(stored))

/** As JSON, or as protobuf. */
export function metadataItems ({ view, list }: ShownList, version: string, protobuf: boolean): Joined {
  const metadata = metadataOf(list, view.store)
  if (protobuf) {
    const items = messageItems(`${view.id} metadata as protobuf`, stored => view.metadataMessage(stored))
    return { items, ends: size => protobufListEnds({ apiVersion: version, listKind: LIST_KIND }, metadata, size) }
  }
  const head = JSON.stringify({ kind: LIST_KIND, apiVersion: version, metadata }).slice(0, -1)
  const ends = { head: Buffer.from(`${head},"items":[`), tail: Buffer.from(']}\n') }
  return { items: jsonMetadata(view, version), ends: () => ends }
}

function jsonMetadata (view: View, version: string): Items {
  const kept = { id: `${view.id} metadata ${version}`, body: (stored: Entry) => view.metadata(stored) }
  return { ...wrapped(kept, headOfMetadata(version), BETWEEN), separator: 1 }
}

export function metadataParts (format: TextFormat, { view, list, asker }: ShownList, version: string): Parts {
  const metadata = metadataOf(list, view.store)
  const items = mapped(list.entries, stored => textPart(format, metadataJson(view, stored, version), asker))
  return format.listing({ kind: LIST_KIND, apiVersion: version, metadata }, 'items', items)
}

export function metadataEvents (view: View, version: string, protobuf: boolean): Events {
  const event: Events['event'] = protobuf
    ? (type, stored) => protobufWatchFrame(type, enveloped(view, stored, version))
    : (type, stored) =>
        Buffer.concat([bytesOf(`{"type":"${type}","object":`), metadataJson(view, stored, version), LAST])
  const bookmark: Events['bookmark'] = (revision, isMark) => {
    const object = { ...bookmarkObject(view, revision, isMark), kind: KIND, apiVersion: version }
    return protobuf
      ? protobufWatchFrame('BOOKMARK', encodeProtobuf(PartialObjectMetadata, object as never))
      : jsonLine('BOOKMARK', object)
  }
  const { failure } = protobuf ? protobufEvents(view) : jsonEvents(view)
  return { event, added: addedMetadata(view, version, protobuf), bookmark, failure }
}

function addedMetadata (view: View, version: string, protobuf: boolean): Items {
  const id = `${view.id} metadata ${version} ADDED`
  if (protobuf) {
    const frames = protobufWatchFrames('ADDED', { apiVersion: version, kind: KIND })
    return { id: `${id} as protobuf`, body: stored => view.metadataMessage(stored), ...frames, separator: 0 }
  }
  const head = Buffer.concat([ADDED, headOfMetadata(version)])
  return { ...wrapped({ id, body: stored => view.metadata(stored) }, head, EVENT_END), separator: 0 }
}
