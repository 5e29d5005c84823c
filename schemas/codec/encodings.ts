/** Response encodings beside an object's own: YAML, a Status in protobuf, the metadata of an object. */
import type { ApiObject } from '../meta/api-object.js'
import { encodeProtobuf } from './protobuf/encode.js'
import { Status as StatusMessage } from '../meta/v1.js'
import type { Status } from '../status.js'

export { toYaml } from './yaml/yaml-write.js'

export function statusToProtobuf (status: Omit<Status, 'code'> & { code?: number }): Buffer {
  return encodeProtobuf(StatusMessage, status as never) // Status has the fields of StatusMessage
}

/** @param version meta.orch.io/v1 or meta.orch.io/v1beta1 */
export function partialMetadata ({ metadata }: Pick<ApiObject, 'metadata'>, version: string): {
  kind: string, apiVersion: string, metadata: ApiObject['metadata']
} {
  return { kind: 'PartialObjectMetadata', apiVersion: version, metadata }
}
