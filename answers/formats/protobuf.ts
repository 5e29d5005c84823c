/** Protobuf, derived from an entry on demand and kept with it while it is used. */
import {
  encodeMessageOnce, encodeProtobuf, protobufListParts, protobufWatchFrame
} from '../../schemas/codec/protobuf/encode.js'
import { statusToProtobuf } from '../../schemas/codec/encodings.js'
import { PROTOBUF_TYPE } from '../../schemas/media-types.js'
import type { ApiObject } from '../../schemas/resource.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { metadataOf, type ListMetadata } from '../list-metadata.js'
import type { Naming } from '../../schemas/naming.js'
import { shownEntry } from '../../registry/shown-entry.js'
import {
  bookmarkObject, mapped, namedObject, NOTHING, type Events, type Format, type Part, type ShownEntry, type ShownList
} from './format.js'
import { addedOneByOne } from './json.js'

type Shown = Pick<ShownEntry, 'store' | 'naming'>

export const PROTOBUF_WATCH = 'application/vnd.orch.protobuf;stream=watch'

export const PROTOBUF: Format = {
  type: PROTOBUF_TYPE,
  entry: protobufOf,
  object: (naming, message, own) => encodeProtobuf(message, namedObject(naming, message, own)),
  status: statusToProtobuf,
  list: protobufList
}

/**
 * What protobuf is made of. Its members have our names even where those of JSON are translated, so that it is not made
 * of the JSON that the client would see.
 */
function decoded ({ store, naming }: Shown, own: Entry, seen: Entry): ApiObject {
  return seen === own ? own.copy() : naming.value(store.representation.message, own.copy())
}

function protobufOf (shown: Shown, own: Entry): Buffer {
  const { store, naming } = shown
  const seen = shownEntry(store, naming, own)
  return seen.derive('protobuf', () => encodeProtobuf(store.representation.message, decoded(shown, own, seen)))
}

function protobufList (shown: ShownList): Iterable<Part> {
  const { store, list, naming, keep } = shown
  const { message, listKind, apiVersion } = store.representation
  const once = (own: Entry, seen: Entry): Uint8Array => encodeMessageOnce(message, decoded(shown, own, seen))
  const encode = (own: Entry): Uint8Array => {
    const seen = shownEntry(store, naming, own)
    return keep ? seen.derive('message', () => Buffer.from(once(own, seen))) : once(own, seen)
  }
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
  const event: Events['event'] = (type, own) => protobufWatchFrame(type, protobufOf({ store, naming }, own))
  return {
    event,
    added: addedOneByOne(event),
    bookmark: revision =>
      protobufWatchFrame('BOOKMARK', encodeProtobuf(message, bookmarkObject(store, revision, naming) as never)),
    failure: status => protobufWatchFrame('ERROR', statusToProtobuf(naming.status(status)))
  }
}
