/** Types of the module that `build/protobuf.js` generates from key-service.proto. */
import type { Writer } from 'protobufjs'

interface Written<T> { encode: (message: T) => Writer }
interface Readable<T> { decode: (bytes: Uint8Array) => T }

export const VersionRequest: Written<{ readonly version: string }>
export const EncryptRequest: Written<{ readonly version: string, readonly plain: Uint8Array }>
export const DecryptRequest: Written<{ readonly version: string, readonly cipher: Uint8Array }>
export const VersionResponse: Readable<{ readonly version: string }>
export const EncryptResponse: Readable<{ readonly cipher: Uint8Array }>
export const DecryptResponse: Readable<{ readonly plain: Uint8Array }>
