/** The metadata of objects alone, PartialObjectMetadata, as JSON, YAML or protobuf. */
import { protobufWatchFrame } from '../../schemas/codec/protobuf/encode.js'
import type { ApiObject } from '../../schemas/resource.js'
import type { Tabular } from '../../schemas/table.js'
import { partialMetadata, partialMetadataMessage, partialMetadataProtobuf } from '../../schemas/codec/encodings.js'
import type { Steps } from '../../schemas/steps.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { metadataOf } from '../list-metadata.js'
import type { Naming } from '../../schemas/naming.js'
import {
  bookmarkObject, isText, mapped, objectIn, shownObject, type Events, type Format, type Part, type ShownList
} from './format.js'
import { addedOneByOne, jsonEvents, jsonLine } from './json.js'
import { protobufEvents, protobufParts } from './protobuf.js'
import { textItem } from './text.js'

/** @returns an object, or protobuf */
export function * metadataOnly (
  tabular: Tabular, own: ApiObject, format: Format, form: { naming: Naming, version: string }
): Steps<object | Buffer> {
  const object = shownObject(form.naming, tabular.message, own)
  yield
  return isText(format) ? partialMetadata(object, form.version) : partialMetadataProtobuf(object, form.version)
}

const LIST_KIND = 'PartialObjectMetadataList'

export function metadataList (format: Format, shown: ShownList, version: string): Iterable<Part> {
  const { store, list, naming, asker } = shown
  const objectOf = objectIn(shown)
  const named = (entry: Entry): ApiObject => shownObject(naming, store.representation.message, objectOf(entry))
  const metadata = metadataOf(list, store)
  if (!isText(format)) {
    const head = { apiVersion: version, listKind: LIST_KIND, metadata }
    return protobufParts(head, list.entries, entry => partialMetadataMessage(named(entry), version))
  }
  const items = mapped(list.entries, entry => textItem(format, entry, partialMetadata(named(entry), version), asker))
  return format.listing({ kind: LIST_KIND, apiVersion: version, metadata }, 'items', items)
}

export function metadataEvents (store: ResourceStore, naming: Naming, version: string, protobuf: boolean): Events {
  const event: Events['event'] = protobuf
    ? (type, entry) => protobufWatchFrame(type, partialMetadataProtobuf(entry.object, version))
    : (type, entry) => jsonLine(type, partialMetadata(entry.object, version))
  const bookmark = (revision: number): Buffer => {
    const object = bookmarkObject(store, revision, naming)
    return protobuf
      ? protobufWatchFrame('BOOKMARK', partialMetadataProtobuf(object, version))
      : jsonLine('BOOKMARK', { ...object, kind: 'PartialObjectMetadata', apiVersion: version })
  }
  const { failure } = protobuf ? protobufEvents(store, naming) : jsonEvents(store, naming)
  return { event, added: addedOneByOne(event), bookmark, failure }
}
