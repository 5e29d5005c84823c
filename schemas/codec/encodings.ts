/** Response encodings beside an object's own: YAML, and Status and PartialObjectMetadata in protobuf. */
import type { ApiObject } from '../resource.js'
import { encodeMessageOnce, encodeProtobuf } from './protobuf/encode.js'
import { PartialObjectMetadata, Status as StatusMessage } from '../meta/v1.js'
import type { Status } from '../status.js'

export { toYaml } from './yaml/yaml-write.js'

export function statusToProtobuf (status: Omit<Status, 'code'> & { code?: number }): Buffer {
  return encodeProtobuf(StatusMessage, status as never) // Status has the fields of StatusMessage
}

/** @param version meta.orch.io/v1 or meta.orch.io/v1beta1 */
export function partialMetadata ({ metadata }: ApiObject, version: string): {
  kind: string, apiVersion: string, metadata: ApiObject['metadata']
} {
  return { kind: 'PartialObjectMetadata', apiVersion: version, metadata }
}

export function partialMetadataProtobuf (object: ApiObject, version: string): Buffer {
  return encodeProtobuf(PartialObjectMetadata, partialMetadata(object, version) as never)
}

/** A list item: the message without an envelope, in memory that the next call overwrites. */
export function partialMetadataMessage (object: ApiObject, version: string): Uint8Array {
  return encodeMessageOnce(PartialObjectMetadata, partialMetadata(object, version) as never)
}
