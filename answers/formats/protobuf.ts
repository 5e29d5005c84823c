/** Protobuf, derived from an entry on demand and kept with it while it is used. */
import {
  encodeMessageOnce, encodeProtobuf, protobufListParts, protobufWatchFrame
} from '../../schemas/codec/protobuf/encode.js'
import { statusToProtobuf } from '../../schemas/codec/encodings.js'
import { PROTOBUF_TYPE } from '../../schemas/media-types.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { metadataOf, type ListMetadata } from '../list-metadata.js'
import type { Naming } from '../../schemas/naming.js'
import { bookmarkObject, mapped, NOTHING, type Events, type Format, type Part, type ShownList } from './format.js'
import { addedOneByOne } from './json.js'

export const PROTOBUF_WATCH = 'application/vnd.orch.protobuf;stream=watch'

export const PROTOBUF: Format = {
  type: PROTOBUF_TYPE,
  entry: (store, entry) => store.protobuf(entry),
  object: (naming, message, own) => encodeProtobuf(message, naming.decoded(message, own)),
  status: statusToProtobuf,
  list: protobufList
}

function protobufList ({ store, list, naming, keep }: ShownList): Iterable<Part> {
  const { message, listKind, apiVersion } = store.representation
  const encode = keep
    ? (entry: Entry) => entry.derive('message', made => Buffer.from(encodeMessageOnce(message, made.encodable())))
    : (entry: Entry) => encodeMessageOnce(message, entry.encodable())
  const head = { listKind, apiVersion: naming.group(apiVersion), metadata: metadataOf(list, store) }
  return protobufParts(head, list.entries, encode)
}

/**
 * Lengths precede their contents, so all items are encoded once for their lengths, yielding to the event loop. Small
 * lists keep the results with the entries; for others each item is encoded again when it is sent, to avoid holding the
 * whole list.
 */
export function * protobufParts (
  head: { apiVersion: string, listKind: string, metadata: ListMetadata },
  entries: readonly Entry[],
  encode: (entry: Entry) => Uint8Array
): Generator<Uint8Array> {
  const lengths: number[] = []
  for (const entry of entries) {
    lengths.push(encode(entry).length)
    yield NOTHING
  }
  yield * protobufListParts(head, head.metadata, lengths, mapped(entries, encode))
}

export function protobufEvents (store: ResourceStore, naming: Naming): Events {
  const { message } = store.representation
  const event: Events['event'] = (type, entry) => protobufWatchFrame(type, store.protobuf(entry))
  return {
    event,
    added: addedOneByOne(event),
    bookmark: revision =>
      protobufWatchFrame('BOOKMARK', encodeProtobuf(message, bookmarkObject(store, revision, naming) as never)),
    failure: status => protobufWatchFrame('ERROR', statusToProtobuf(naming.status(status)))
  }
}
