/** Protobuf: a stored object is a message that is kept beside it, in an envelope. */
import {
  encodeProtobuf, envelopeOf, protobufListEnds, protobufWatchFrame, protobufWatchFrames, sizeOfItem, writeItem
} from '../../schemas/codec/protobuf/encode.js'
import { statusToProtobuf } from '../../schemas/codec/encodings.js'
import { PROTOBUF_TYPE } from '../../schemas/media-types.js'
import type { Items } from '../../storage/cache/leaf-bytes.js'
import { metadataOf } from '../list-metadata.js'
import type { StoredView } from '../stored-view.js'
import type { Events, Joined, ShownList, Stream, WholeForm } from './format.js'

const SHAPE = { protobuf: true, metadata: false } as const

export const PROTOBUF_STREAM: Stream = {
  type: 'application/vnd.orch.protobuf;stream=watch', id: 'protobuf', shape: SHAPE, events: protobufEvents
}

export const PROTOBUF: WholeForm = {
  type: PROTOBUF_TYPE,
  shape: SHAPE,
  stream: PROTOBUF_STREAM,
  entry: ({ view }, stored) => envelopeOf(view, view.encoded(stored)),
  list: protobufList,
  object: (view, { message, object }) => view.protobuf(message, object),
  status: statusToProtobuf
}

function protobufList ({ view, list }: ShownList): Joined {
  const { store, apiVersion } = view
  const head = { listKind: store.representation.listKind, apiVersion }
  const items = messageItems(`${view.id} protobuf`, stored => view.encoded(stored))
  return { items, ends: size => protobufListEnds(head, metadataOf(list, store), size) }
}

export const messageItems = (id: string, body: Items['body']): Items =>
  ({ id, body, size: sizeOfItem, write: writeItem, separator: 0 })

function protobufEvents (view: StoredView): Events {
  const { message } = view.store.representation
  return {
    event: (type, stored) => protobufWatchFrame(type, envelopeOf(view, view.encoded(stored))),
    added: {
      id: `${view.id} ADDED as protobuf`,
      body: stored => view.encoded(stored),
      ...protobufWatchFrames('ADDED', view),
      separator: 0
    },
    bookmark: (revision, isMark) =>
      protobufWatchFrame('BOOKMARK', encodeProtobuf(message, view.bookmark(revision, isMark) as never)),
    failure: status => protobufWatchFrame('ERROR', statusToProtobuf(view.status(status)))
  }
}
