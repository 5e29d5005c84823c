/** Types of the module that `build/protobuf.js` generates from key-service-v2.proto. */
import type { Writer } from 'protobufjs'

interface Written<T> { encode: (message: T) => Writer }
interface Readable<T> { decode: (bytes: Uint8Array) => T }

export interface Annotation { readonly key: string, readonly value: Uint8Array }

/** A key as the service encrypted it. */
export interface EncryptedKey {
  readonly ciphertext: Uint8Array
  readonly keyId: string
  readonly annotations: readonly Annotation[]
}

export interface StoredObject {
  readonly encryptedData: Uint8Array
  readonly keyId: string
  readonly encryptedSource: Uint8Array
  readonly annotations: readonly Annotation[]
  readonly sourceType: number
}

export const StatusRequest: Written<object>
export const EncryptRequest: Written<{ readonly plaintext: Uint8Array, readonly uid: string }>
export const DecryptRequest: Written<EncryptedKey & { readonly uid: string }>
export const StatusResponse: Readable<{ readonly version: string, readonly healthz: string, readonly keyId: string }>
export const EncryptResponse: Readable<EncryptedKey>
export const DecryptResponse: Readable<{ readonly plaintext: Uint8Array }>
export const EncryptedObject: Written<StoredObject> & Readable<StoredObject>
