/** Protobuf: a stored object is a message that is kept beside it, in an envelope. */
import {
  encodeProtobuf, envelopeOf, protobufListEnds, protobufWatchFrame, protobufWatchFrames, sizeOfItem, writeItem
} from '../../schemas/codec/protobuf/encode.js'
import { statusToProtobuf } from '../../schemas/codec/encodings.js'
import { PROTOBUF_TYPE } from '../../schemas/media-types.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { Items } from '../../storage/cache/leaf-bytes.js'
import type { Joined } from '../list-bytes.js'
import { metadataOf } from '../list-metadata.js'
import type { View } from '../view.js'
import { bookmarkObject, namedObject, type Events, type Format, type ShownList } from './format.js'

export const PROTOBUF_WATCH = 'application/vnd.orch.protobuf;stream=watch'

export const PROTOBUF: Format = {
  type: PROTOBUF_TYPE,
  entry: ({ view }, stored) => enveloped(view, stored),
  object: (naming, message, own) => encodeProtobuf(message, namedObject(naming, message, own)),
  status: statusToProtobuf
}

function enveloped (view: View, stored: Entry): Buffer {
  const { apiVersion, kind } = view.store.representation
  return envelopeOf({ apiVersion: view.naming.group(apiVersion), kind }, view.message(stored))
}

export function protobufList ({ view, list }: ShownList): Joined {
  const { store, naming } = view
  const { listKind, apiVersion } = store.representation
  const head = { listKind, apiVersion: naming.group(apiVersion) }
  const items = messageItems(`${view.id} protobuf`, stored => view.message(stored))
  return { items, ends: size => protobufListEnds(head, metadataOf(list, store), size) }
}

export const messageItems = (id: string, body: Items['body']): Items =>
  ({ id, body, size: sizeOfItem, write: writeItem, separator: 0 })

export function protobufEvents (view: View): Events {
  const { message, apiVersion, kind } = view.store.representation
  const event: Events['event'] = (type, stored) => protobufWatchFrame(type, enveloped(view, stored))
  return {
    event,
    added: {
      id: `${view.id} ADDED as protobuf`,
      body: stored => view.message(stored),
      ...protobufWatchFrames('ADDED', { apiVersion: view.naming.group(apiVersion), kind }),
      separator: 0
    },
    bookmark: (revision, isMark) =>
      protobufWatchFrame('BOOKMARK', encodeProtobuf(message, bookmarkObject(view, revision, isMark) as never)),
    failure: status => protobufWatchFrame('ERROR', statusToProtobuf(view.naming.status(status)))
  }
}
