/** Protobuf: a stored object is a message that is kept beside it, in an envelope. */
import {
  encodeProtobuf, envelopeOf, protobufListParts, protobufWatchFrame
} from '../../schemas/codec/protobuf/encode.js'
import { statusToProtobuf } from '../../schemas/codec/encodings.js'
import { PROTOBUF_TYPE } from '../../schemas/media-types.js'
import type { Steps } from '../../schemas/steps.js'
import type { Entry } from '../../storage/cache/entry.js'
import { metadataOf, type ListMetadata } from '../list-metadata.js'
import type { View } from '../view.js'
import {
  bookmarkObject, mapped, namedObject, type Events, type Format, type Parts, type ShownList
} from './format.js'
import { addedOneByOne } from './json.js'

export const PROTOBUF_WATCH = 'application/vnd.orch.protobuf;stream=watch'

export const PROTOBUF: Format = {
  type: PROTOBUF_TYPE,
  entry: ({ view }, stored) => enveloped(view, stored),
  object: (naming, message, own) => encodeProtobuf(message, namedObject(naming, message, own)),
  status: statusToProtobuf,
  list: protobufList
}

function enveloped (view: View, stored: Entry): Buffer {
  const { apiVersion, kind } = view.store.representation
  return envelopeOf({ apiVersion: view.naming.group(apiVersion), kind }, view.message(stored))
}

function protobufList ({ view, list }: ShownList): Steps<Parts> {
  const { store, naming } = view
  const { listKind, apiVersion } = store.representation
  const head = { listKind, apiVersion: naming.group(apiVersion), metadata: metadataOf(list, store) }
  return protobufParts(head, list.entries, stored => view.message(stored))
}

/**
 * Lengths precede their contents, so all items are made once for their lengths, yielding to the event loop. Those for
 * which there is no room are made again when they are sent, to avoid holding the whole list.
 */
export function * protobufParts (
  head: { apiVersion: string, listKind: string, metadata: ListMetadata },
  entries: readonly Entry[],
  encode: (entry: Entry) => Uint8Array
): Steps<Parts> {
  const lengths: number[] = []
  for (const entry of entries) {
    lengths.push(encode(entry).length)
    yield
  }
  return protobufListParts(head, head.metadata, lengths, mapped(entries, encode))
}

export function protobufEvents (view: View): Events {
  const { message } = view.store.representation
  const event: Events['event'] = (type, stored) => protobufWatchFrame(type, enveloped(view, stored))
  return {
    event,
    added: addedOneByOne(event),
    bookmark: revision =>
      protobufWatchFrame('BOOKMARK', encodeProtobuf(message, bookmarkObject(view, revision) as never)),
    failure: status => protobufWatchFrame('ERROR', statusToProtobuf(view.naming.status(status)))
  }
}
