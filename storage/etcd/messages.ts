/**
 * The few messages of etcd's v3 protocol that every read, write and watch uses: what the server asks and learns, to and from the
 * messages of `messages.proto`. protobufjs reads and writes those, by code that the build makes (`build/protobuf.js`).
 * Values that come in are views of the received bytes, not copies.
 *
 * Limits: integers are exact up to 2^53, and an answer with one beyond is refused. Bytes that are no message end in a RangeError.
 */
import protobuf from 'protobufjs/minimal.js'
import type { BackendEvent, KeyValue, Revision } from '../backend.js'
import { PutRequest, RangeRequest, RangeResponse, StatusRequest, StatusResponse, TxnRequest, TxnResponse, WatchRequest, WatchResponse } from './messages.proto.js'
import type { Int64Bits, StoredEvent, StoredKeyValue } from './messages.proto.js'

export interface RangeMessage {
  readonly key: Uint8Array
  readonly rangeEnd?: Uint8Array
  readonly limit?: number
  readonly revision?: Revision
  readonly countOnly?: boolean
}

export interface RangeAnswer {
  readonly revision: Revision
  readonly kvs: readonly KeyValue[]
  readonly more: boolean
  readonly count: number
}

interface Comparison {
  readonly key: Uint8Array
  /** 0: the key does not exist. */
  readonly expected: Revision
}

/** A comparison of the key's revision, of the guard's too where there is one; one change if all hold, a read of the key if not. */
export interface TxnMessage extends Comparison {
  readonly guard?: Comparison | undefined
  /** Undefined deletes. */
  readonly value: Uint8Array | undefined
  readonly lease: string | undefined
}

export interface TxnAnswer {
  readonly revision: Revision
  readonly succeeded: boolean
  /** What stood in the way. */
  readonly kv: KeyValue | undefined
}

export interface WatchAnswer {
  readonly revision: Revision
  readonly created: boolean
  readonly canceled: boolean
  /** 0 when nothing was compacted away. */
  readonly compacted: Revision
  readonly reason: string
  /** True when more of the same revisions follows. */
  readonly fragment: boolean
  readonly events: readonly BackendEvent[]
}

const MOD = 2
const DELETE = 1
/** gRPC wants five bytes before a message: that it is not compressed, and its length. */
const FRAME = 5

/** Finishes a message with its frame before it, in memory of its own. */
class FramedWriter extends protobuf.BufferWriter {
  static override alloc (size: number): Buffer {
    const bytes = Buffer.allocUnsafe(FRAME + size)
    bytes[0] = 0
    bytes.writeUInt32BE(size, 1)
    return bytes.subarray(FRAME)
  }
}

function framed<T> (type: { encode: (message: T, writer: protobuf.Writer) => protobuf.Writer }, message: T): Buffer {
  const { buffer, byteOffset, length } = type.encode(message, new FramedWriter()).finish()
  return Buffer.from(buffer as ArrayBuffer, byteOffset - FRAME, FRAME + length) // as alloc made it
}

const comparison = ({ key, expected }: Comparison) => ({ target: MOD, key, modRevision: expected })

function bitsOf (lease: string): Int64Bits {
  const id = BigInt(lease)
  return { low: Number(BigInt.asIntN(32, id)), high: Number(BigInt.asIntN(32, id >> 32n)) }
}

export const encodeRange = ({ key, rangeEnd, limit = 0, revision = 0, countOnly = false }: RangeMessage): Buffer =>
  framed(RangeRequest, { key, rangeEnd, limit: limit === 0 ? undefined : limit, revision: revision === 0 ? undefined : revision, countOnly: countOnly ? true : undefined })

export function encodeTxn ({ key, expected, guard, value, lease }: TxnMessage): Buffer {
  const own = comparison({ key, expected })
  return framed(TxnRequest, {
    compare: guard === undefined ? [own] : [own, comparison(guard)],
    success: [value === undefined ? { requestDeleteRange: { key } } : { requestPut: { key, value, lease: lease === undefined ? undefined : bitsOf(lease) } }],
    failure: [{ requestRange: { key } }]
  })
}

/** A watch of [key, rangeEnd) from this revision on, with or without what was there before, and large answers in fragments. */
export const encodeWatch = (key: Uint8Array, rangeEnd: Uint8Array, from: Revision, previous: boolean): Buffer =>
  framed(WatchRequest, { createRequest: { key, rangeEnd, startRevision: from, progressNotify: true, prevKv: previous ? true : undefined, fragment: true } })

/** A request for progress, on the stream of a watch. */
export const encodeProgress = (): Buffer => framed(WatchRequest, { progressRequest: {} })

/** A key that is written whatever is there, without a value. */
export const encodeMark = (key: Uint8Array): Buffer => framed(PutRequest, { key })

/** A message without fields. */
export const encodeEmpty = (): Buffer => framed(StatusRequest, {})

/** A whole message. @throws RangeError for bytes that are none, whatever protobufjs throws */
function decoded<T> (type: { decode: (bytes: Buffer) => T }, answer: Buffer): T {
  try {
    return type.decode(answer)
  } catch (error) {
    throw new RangeError(`an answer of etcd: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** Bytes of a member's database, from its status. */
export const decodeSize = (answer: Buffer): number => decoded(StatusResponse, answer).dbSize

/** The revision that any answer begins with. */
export const decodeRevision = (answer: Buffer): Revision => decodeRange(answer).revision

export function decodeRange (answer: Buffer): RangeAnswer {
  const { header, kvs, more, count } = decoded(RangeResponse, answer)
  return { revision: header?.revision ?? 0, kvs: kvs.map(keyValueOf), more, count }
}

export function decodeTxn (answer: Buffer): TxnAnswer {
  const { header, succeeded, responses: [response] } = decoded(TxnResponse, answer)
  // The one key and value in the answer to a transaction's range, put or delete.
  const kv = response?.responseRange?.kvs[0] ?? response?.responsePut?.prevKv ?? response?.responseDeleteRange?.prevKvs[0]
  return { revision: header?.revision ?? 0, succeeded, kv: kv === undefined || kv === null ? undefined : keyValueOf(kv) }
}

export function decodeWatch (answer: Buffer): WatchAnswer {
  const { header, created, canceled, compactRevision, cancelReason, fragment, events } = decoded(WatchResponse, answer)
  return { revision: header?.revision ?? 0, created, canceled, compacted: compactRevision, reason: cancelReason, fragment, events: events.map(eventOf) }
}

const keyValueOf = ({ key, value, createRevision, modRevision }: StoredKeyValue): KeyValue => ({ key: key.toString('latin1'), value, createRevision, modRevision })

const NOTHING: KeyValue = { key: '', value: new Uint8Array(0), createRevision: 0, modRevision: 0 }

const eventOf = ({ type, kv, prevKv }: StoredEvent): BackendEvent => ({
  type: type === DELETE ? 'delete' : 'put',
  kv: kv === null ? NOTHING : keyValueOf(kv),
  previous: prevKv === null ? undefined : keyValueOf(prevKv)
})
