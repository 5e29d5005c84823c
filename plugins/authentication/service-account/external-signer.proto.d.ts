/** Types of the module that `build/protobuf.js` generates from external-signer.proto. */
import type { Writer } from 'protobufjs'

interface Written<T> { encode: (message: T) => Writer }
interface Readable<T> { decode: (bytes: Uint8Array) => T }

export interface Key {
  readonly keyId: string
  readonly key: Uint8Array
  readonly excludeFromOidcDiscovery: boolean
}

export const SignRequest: Written<{ readonly claims: string }>
export const FetchKeysRequest: Written<object>
export const MetadataRequest: Written<object>
export const SignResponse: Readable<{ readonly header: string, readonly signature: string }>
export const FetchKeysResponse: Readable<{ readonly keys: readonly Key[], readonly refreshHintSeconds: number }>
export const MetadataResponse: Readable<{ readonly maxTokenExpirationSeconds: number }>
