/** The metadata of objects alone, PartialObjectMetadata, as JSON, YAML or protobuf. */
import { envelopeOf, encodeProtobuf, protobufWatchFrame } from '../../schemas/codec/protobuf/encode.js'
import { PartialObjectMetadata } from '../../schemas/meta/answers.js'
import type { Steps } from '../../schemas/steps.js'
import type { Entry } from '../../storage/cache/entry.js'
import { metadataOf } from '../list-metadata.js'
import type { View } from '../view.js'
import {
  bookmarkObject, bytesOf, isText, mapped, type Events, type Format, type Parts, type ShownEntry, type ShownList
} from './format.js'
import { addedOneByOne, jsonEvents, jsonLine } from './json.js'
import { protobufEvents, protobufParts } from './protobuf.js'
import { textOf, textPart } from './text.js'

const KIND = 'PartialObjectMetadata'
const LIST_KIND = 'PartialObjectMetadataList'
const END = bytesOf('}')
const LAST = bytesOf('}\n')

/** As JSON, before its end. @param version meta.orch.io/v1 or meta.orch.io/v1beta1 */
const headOf = (version: string): Uint8Array => bytesOf(`{"kind":"${KIND}","apiVersion":"${version}","metadata":`)

/** Compact JSON. */
export const metadataJson = (view: View, stored: Entry, version: string): Buffer =>
  Buffer.concat([headOf(version), view.metadata(stored), END])

export function metadataEntry (
  format: Format, { view, asker }: ShownEntry, stored: Entry, version: string
): Buffer | Promise<Buffer> {
  return isText(format)
    ? textOf(format, Buffer.concat([headOf(version), view.metadata(stored), LAST]), asker)
    : enveloped(view, stored, version)
}

const enveloped = (view: View, stored: Entry, apiVersion: string): Buffer =>
  envelopeOf({ apiVersion, kind: KIND }, view.metadataMessage(stored))

export function * metadataList (format: Format, { view, list, asker }: ShownList, version: string): Steps<Parts> {
  const metadata = metadataOf(list, view.store)
  if (!isText(format)) {
    const head = { apiVersion: version, listKind: LIST_KIND, metadata }
    return yield * protobufParts(head, list.entries, stored => view.metadataMessage(stored))
  }
  const items = mapped(list.entries, stored => textPart(format, metadataJson(view, stored, version), asker))
  return { parts: format.listing({ kind: LIST_KIND, apiVersion: version, metadata }, 'items', items) }
}

export function metadataEvents (view: View, version: string, protobuf: boolean): Events {
  const event: Events['event'] = protobuf
    ? (type, stored) => protobufWatchFrame(type, enveloped(view, stored, version))
    : (type, stored) =>
        Buffer.concat([bytesOf(`{"type":"${type}","object":`), metadataJson(view, stored, version), LAST])
  const bookmark = (revision: number): Buffer => {
    const object = { ...bookmarkObject(view, revision), kind: KIND, apiVersion: version }
    return protobuf
      ? protobufWatchFrame('BOOKMARK', encodeProtobuf(PartialObjectMetadata, object as never))
      : jsonLine('BOOKMARK', object)
  }
  const { failure } = protobuf ? protobufEvents(view) : jsonEvents(view)
  return { event, added: addedOneByOne(event), bookmark, failure }
}
