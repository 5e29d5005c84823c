import { protobufListEnds, sizeOfItem, writeItem } from '../schemas/codec/protobuf/encode.js'
import type { ListMeta } from '../schemas/meta/object.js'
import type { Representation } from '../schemas/resource.js'

/** A list of encoded items in one buffer. */
export function protobufList (
  resource: Pick<Representation, 'apiVersion' | 'listKind'>, metadata: ListMeta, items: readonly Uint8Array[]
): Buffer {
  const size = items.reduce((sum, item) => sum + sizeOfItem(item), 0)
  const { head, tail } = protobufListEnds(resource, metadata, size)
  const joined = Buffer.alloc(size)
  let at = 0
  for (const item of items) at = writeItem(joined, at, item)
  return Buffer.concat([head, joined, tail])
}
