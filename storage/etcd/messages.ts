/**
 * The few messages of etcd's v3 protocol that every read, write and watch uses, in and out of protobuf
 * bytes. Field numbers are those of etcd's `rpc.proto` and `kv.proto`. Values that come in are views of
 * the received bytes, not copies.
 *
 * Limits: integers are exact up to 2^53; of fields not asked for here nothing is read.
 */
import type { BackendEvent, KeyValue, Revision } from '../backend.js'
import { ProtoReader, ProtoWriter } from './protobuf.js'

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

/** One comparison of the key's revision, one change if it holds, a read of the key if not. */
export interface TxnMessage {
  readonly key: Uint8Array
  readonly expected: Revision
  /** Undefined deletes. */
  readonly value: Uint8Array | undefined
  readonly lease: string | undefined
  readonly previous: boolean
}

export interface TxnAnswer {
  readonly revision: Revision
  readonly succeeded: boolean
  /** What was replaced or removed, or what stood in the way. */
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
/** What the fields around keys and values take at most, with room to spare. */
const OVERHEAD = 160

/** A message with the five bytes before it that gRPC wants: not compressed, and its length. */
function framed (writer: ProtoWriter): Buffer {
  return writer.finish(length => {
    const prefix = Buffer.allocUnsafe(5)
    prefix[0] = 0
    prefix.writeUInt32BE(length, 1)
    return prefix
  })
}

export function encodeRange ({ key, rangeEnd, limit = 0, revision = 0, countOnly = false }: RangeMessage): Buffer {
  const writer = new ProtoWriter(key.length + (rangeEnd?.length ?? 0) + OVERHEAD)
  if (countOnly) writer.number(9, 1)
  if (revision !== 0) writer.number(4, revision)
  if (limit !== 0) writer.number(3, limit)
  if (rangeEnd !== undefined) writer.bytes(2, rangeEnd)
  writer.bytes(1, key)
  return framed(writer)
}

export function encodeTxn ({ key, expected, value, lease, previous }: TxnMessage): Buffer {
  const writer = new ProtoWriter(key.length * 3 + (value?.length ?? 0) + OVERHEAD)
  // Written from the end to the start, so that the length of what is nested is known when it is needed.
  writer.nested(3, () => writer.nested(1, () => writer.bytes(1, key)))
  writer.nested(2, () => {
    if (value === undefined) {
      writer.nested(3, () => {
        writer.number(3, 1)
        writer.bytes(1, key)
      })
    } else {
      writer.nested(2, () => {
        if (previous) writer.number(4, 1)
        if (lease !== undefined) writer.big(3, BigInt(lease))
        writer.bytes(2, value)
        writer.bytes(1, key)
      })
    }
  })
  writer.nested(1, () => {
    writer.number(6, expected)
    writer.bytes(3, key)
    writer.number(2, MOD)
  })
  return framed(writer)
}

/** A watch of [key, rangeEnd) from this revision on, with what was there before, and large answers in pieces. */
export function encodeWatch (key: Uint8Array, rangeEnd: Uint8Array, from: Revision): Buffer {
  const writer = new ProtoWriter(key.length + rangeEnd.length + OVERHEAD)
  writer.nested(1, () => {
    writer.number(8, 1)
    writer.number(6, 1)
    writer.number(4, 1)
    writer.number(3, from)
    writer.bytes(2, rangeEnd)
    writer.bytes(1, key)
  })
  return framed(writer)
}

/** A message without fields. */
export function encodeEmpty (): Buffer {
  return framed(new ProtoWriter(0))
}

/** Bytes of a member's database, from its status. */
export function decodeSize (bytes: Buffer): number {
  const reader = new ProtoReader(bytes)
  let size = 0
  while (reader.next()) {
    if (reader.field === 3) size = reader.number()
    else reader.skip()
  }
  return size
}

export function decodeRange (bytes: Buffer): RangeAnswer {
  return rangeOf(new ProtoReader(bytes))
}

export function decodeTxn (bytes: Buffer): TxnAnswer {
  const reader = new ProtoReader(bytes)
  let revision = 0
  let succeeded = false
  let kv: KeyValue | undefined
  while (reader.next()) {
    if (reader.field === 1) revision = revisionOf(reader.message())
    else if (reader.field === 2) succeeded = reader.number() !== 0
    else if (reader.field === 3) kv = firstOf(reader.message())
    else reader.skip()
  }
  return { revision, succeeded, kv }
}

export function decodeWatch (bytes: Buffer): WatchAnswer {
  const reader = new ProtoReader(bytes)
  const answer = { revision: 0, created: false, canceled: false, compacted: 0, reason: '', fragment: false, events: [] as BackendEvent[] }
  while (reader.next()) {
    switch (reader.field) {
      case 1: answer.revision = revisionOf(reader.message()); break
      case 3: answer.created = reader.number() !== 0; break
      case 4: answer.canceled = reader.number() !== 0; break
      case 5: answer.compacted = reader.number(); break
      case 6: answer.reason = reader.bytes().toString('utf8'); break
      case 7: answer.fragment = reader.number() !== 0; break
      case 11: answer.events.push(eventOf(reader.message())); break
      default: reader.skip()
    }
  }
  return answer
}

function rangeOf (reader: ProtoReader): RangeAnswer {
  const answer = { revision: 0, kvs: [] as KeyValue[], more: false, count: 0 }
  while (reader.next()) {
    switch (reader.field) {
      case 1: answer.revision = revisionOf(reader.message()); break
      case 2: answer.kvs.push(keyValueOf(reader.message())); break
      case 3: answer.more = reader.number() !== 0; break
      case 4: answer.count = reader.number(); break
      default: reader.skip()
    }
  }
  return answer
}

/** The one key and value in the answer to a transaction's range, put or delete. */
function firstOf (reader: ProtoReader): KeyValue | undefined {
  let kv: KeyValue | undefined
  while (reader.next()) {
    const where = reader.field === 3 ? 3 : 2
    const answer = reader.message()
    while (answer.next()) {
      if (answer.field === where) kv = keyValueOf(answer.message())
      else answer.skip()
    }
  }
  return kv
}

function revisionOf (reader: ProtoReader): Revision {
  let revision = 0
  while (reader.next()) {
    if (reader.field === 3) revision = reader.number()
    else reader.skip()
  }
  return revision
}

function keyValueOf (reader: ProtoReader): KeyValue {
  let key = ''
  let value: Uint8Array = EMPTY
  let createRevision = 0
  let modRevision = 0
  while (reader.next()) {
    switch (reader.field) {
      case 1: key = reader.latin1(); break
      case 2: createRevision = reader.number(); break
      case 3: modRevision = reader.number(); break
      case 5: value = reader.bytes(); break
      default: reader.skip()
    }
  }
  return { key, value, createRevision, modRevision }
}

const EMPTY = new Uint8Array(0)

function eventOf (reader: ProtoReader): BackendEvent {
  let type: BackendEvent['type'] = 'put'
  let kv: KeyValue = { key: '', value: EMPTY, createRevision: 0, modRevision: 0 }
  let previous: KeyValue | undefined
  while (reader.next()) {
    switch (reader.field) {
      case 1: type = reader.number() === DELETE ? 'delete' : 'put'; break
      case 2: kv = keyValueOf(reader.message()); break
      case 3: previous = keyValueOf(reader.message()); break
      default: reader.skip()
    }
  }
  return { type, kv, previous }
}
