/**
 * Types of the module that `build/protobuf.js` generates from messages.proto: messages to write, in which any field may
 * be missing, and messages that were read.
 */
import type { Reader, Writer } from 'protobufjs'

/** A lease and the id of a member use all 64 bits. */
export interface Int64Bits { readonly low: number, readonly high: number }

interface Comparison { readonly target: number, readonly key: Uint8Array, readonly modRevision: number }
interface Range {
  readonly key: Uint8Array
  readonly rangeEnd?: Uint8Array | undefined
  readonly limit?: number | undefined
  readonly revision?: number | undefined
  readonly countOnly?: boolean | undefined
  readonly minModRevision?: number | undefined
}
interface Put { readonly key: Uint8Array, readonly value?: Uint8Array, readonly lease?: Int64Bits | undefined }
interface Operation {
  readonly requestRange?: Range
  readonly requestPut?: Put
  readonly requestDeleteRange?: { readonly key: Uint8Array, readonly rangeEnd?: Uint8Array }
}
interface Transaction {
  readonly compare: readonly Comparison[]
  readonly success: readonly Operation[]
  readonly failure: readonly Operation[]
}
interface Watch {
  readonly createRequest?: {
    readonly key: Uint8Array
    readonly rangeEnd: Uint8Array
    readonly startRevision: number
    readonly progressNotify: boolean
    readonly prevKv?: boolean | undefined
    readonly fragment: boolean
  }
  readonly progressRequest?: object
}
interface Written<T> { encode: (message: T, writer: Writer) => Writer }

export const RangeRequest: Written<Range>
export const PutRequest: Written<Put>
export const TxnRequest: Written<Transaction>
export const WatchRequest: Written<Watch>
export const StatusRequest: Written<object>

interface Header { readonly revision: number }
/** Key and value are views of the bytes that were read. */
export interface StoredKeyValue {
  readonly key: Buffer
  readonly value: Buffer
  readonly createRevision: number
  readonly modRevision: number
}
interface RangeRead {
  readonly header: Header | null
  readonly kvs: readonly StoredKeyValue[]
  readonly more: boolean
  readonly count: number
}
interface Answer {
  readonly responseRange: RangeRead | null
  readonly responsePut: { readonly prevKv: StoredKeyValue | null } | null
  readonly responseDeleteRange: { readonly prevKvs: readonly StoredKeyValue[] } | null
}
interface TxnRead { readonly header: Header | null, readonly succeeded: boolean, readonly responses: readonly Answer[] }
/** `type` 1 is a deletion. */
export interface StoredEvent {
  readonly type: number
  readonly kv: StoredKeyValue | null
  readonly prevKv: StoredKeyValue | null
}
interface WatchRead {
  readonly header: Header | null
  readonly created: boolean
  readonly canceled: boolean
  readonly compactRevision: number
  readonly cancelReason: string
  readonly fragment: boolean
  readonly events: readonly StoredEvent[]
}
/** Decodes a whole message. @throws Error for malformed bytes */
interface Readable<T> { decode: (bytes: Buffer | Reader) => T }

export const RangeResponse: Readable<RangeRead>
export const TxnResponse: Readable<TxnRead>
export const WatchResponse: Readable<WatchRead>
export const StatusResponse: Readable<{ readonly dbSize: number, readonly leader: Int64Bits | number }>
