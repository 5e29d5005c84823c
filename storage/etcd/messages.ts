/**
 * The few messages of etcd's v3 protocol that every read, write and watch uses, in and out of protobuf
 * bytes, by hand: `messages.proto` says what they are, and `docs/architecture.md` what a library would cost.
 * Values that come in are views of the received bytes, not copies.
 *
 * Limits: integers are exact up to 2^53; of fields not asked for here nothing is read. Bytes that are no
 * message end in a RangeError.
 */
import { DecodeError } from '../../schemas/language/decode-error.js'
import { BYTES, Reader, VARINT, Writer } from '../../schemas/codec/protobuf/wire.js'
import type { BackendEvent, KeyValue, Revision } from '../backend.js'

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
/** What the fields around keys and values take at most, with room to spare. */
const OVERHEAD = 160

/** A tag: the number of a field and how its value is written. */
const number = (field: number): number => field << 3 | VARINT
const bytes = (field: number): number => field << 3 | BYTES

// The writer goes from the end to the start, so a value comes before its tag, and the last field first.

function writeNumber (writer: Writer, field: number, value: number): void {
  writer.integer(value)
  writer.varint(number(field))
}

function writeBytes (writer: Writer, field: number, value: Uint8Array): void {
  writer.bytes(value)
  writer.varint(value.length)
  writer.varint(bytes(field))
}

function writeMessage (writer: Writer, field: number, write: () => void): void {
  const before = writer.length
  write()
  writer.varint(writer.length - before)
  writer.varint(bytes(field))
}

/** A lease's id, which uses all 64 bits. */
function writeLease (writer: Writer, field: number, id: string): void {
  const groups: number[] = []
  for (let rest = BigInt.asUintN(64, BigInt(id)); rest > 0n || groups.length === 0; rest >>= 7n) groups.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0))
  writer.bytes(Uint8Array.from(groups))
  writer.varint(number(field))
}

/** A message with the five bytes before it that gRPC wants: not compressed, and its length. */
function framed (writer: Writer): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(writer.length, 1)
  writer.bytes(prefix)
  return writer.finish()
}

export function encodeRange ({ key, rangeEnd, limit = 0, revision = 0, countOnly = false }: RangeMessage): Buffer {
  const writer = new Writer(key.length + (rangeEnd?.length ?? 0) + OVERHEAD)
  if (countOnly) writeNumber(writer, 9, 1)
  if (revision !== 0) writeNumber(writer, 4, revision)
  if (limit !== 0) writeNumber(writer, 3, limit)
  if (rangeEnd !== undefined) writeBytes(writer, 2, rangeEnd)
  writeBytes(writer, 1, key)
  return framed(writer)
}

export function encodeTxn ({ key, expected, guard, value, lease }: TxnMessage): Buffer {
  const writer = new Writer(key.length * 3 + (guard?.key.length ?? 0) + (value?.length ?? 0) + OVERHEAD)
  writeMessage(writer, 3, () => writeMessage(writer, 1, () => writeBytes(writer, 1, key)))
  writeMessage(writer, 2, () => {
    if (value === undefined) {
      writeMessage(writer, 3, () => writeBytes(writer, 1, key))
    } else {
      writeMessage(writer, 2, () => {
        if (lease !== undefined) writeLease(writer, 3, lease)
        writeBytes(writer, 2, value)
        writeBytes(writer, 1, key)
      })
    }
  })
  if (guard !== undefined) writeComparison(writer, guard)
  writeComparison(writer, { key, expected })
  return framed(writer)
}

function writeComparison (writer: Writer, { key, expected }: Comparison): void {
  writeMessage(writer, 1, () => {
    writeNumber(writer, 6, expected)
    writeBytes(writer, 3, key)
    writeNumber(writer, 2, MOD)
  })
}

/** A watch of [key, rangeEnd) from this revision on, with or without what was there before, and large answers in fragments. */
export function encodeWatch (key: Uint8Array, rangeEnd: Uint8Array, from: Revision, previous: boolean): Buffer {
  const writer = new Writer(key.length + rangeEnd.length + OVERHEAD)
  writeMessage(writer, 1, () => {
    writeNumber(writer, 8, 1)
    if (previous) writeNumber(writer, 6, 1)
    writeNumber(writer, 4, 1)
    writeNumber(writer, 3, from)
    writeBytes(writer, 2, rangeEnd)
    writeBytes(writer, 1, key)
  })
  return framed(writer)
}

/** A request for progress, on the stream of a watch. */
export function encodeProgress (): Buffer {
  const writer = new Writer(OVERHEAD)
  writeMessage(writer, 3, () => {})
  return framed(writer)
}

/** A key that is written whatever is there, without a value. */
export function encodeMark (key: Uint8Array): Buffer {
  const writer = new Writer(key.length + OVERHEAD)
  writeBytes(writer, 1, key)
  return framed(writer)
}

/** A message without fields. */
export function encodeEmpty (): Buffer {
  return framed(new Writer(0))
}

/** Reads a message up to `end`. */
type Read<T> = (reader: Reader, end: number) => T

/** A whole message. @throws RangeError: these are no client's bytes, so it must not look like a client's mistake */
function decoded<T> (bytes: Buffer, read: Read<T>): T {
  try {
    return read(new Reader(bytes), bytes.length)
  } catch (error) {
    throw error instanceof DecodeError ? new RangeError(`an answer of etcd: ${error.message}`) : error
  }
}

/** A message within one, after its tag. */
const nested = <T>(reader: Reader, end: number, read: Read<T>): T => read(reader, reader.limit(end))

/** Bytes of a member's database, from its status. */
export function decodeSize (answer: Buffer): number {
  return decoded(answer, (reader, end) => {
    let size = 0
    while (reader.at < end) {
      const tag = reader.varint(end)
      if (tag === number(3)) size = reader.integer(end, 64)
      else reader.skip(tag & 7, end)
    }
    return size
  })
}

/** The revision that any answer begins with. */
export const decodeRevision = (answer: Buffer): Revision => decodeRange(answer).revision
export const decodeRange = (answer: Buffer): RangeAnswer => decoded(answer, rangeOf)
export const decodeTxn = (answer: Buffer): TxnAnswer => decoded(answer, txnOf)
export const decodeWatch = (answer: Buffer): WatchAnswer => decoded(answer, watchOf)

function txnOf (reader: Reader, end: number): TxnAnswer {
  let revision = 0
  let succeeded = false
  let kv: KeyValue | undefined
  while (reader.at < end) {
    const tag = reader.varint(end)
    switch (tag) {
      case bytes(1): revision = nested(reader, end, revisionOf); break
      case number(2): succeeded = reader.bool(end); break
      case bytes(3): kv = nested(reader, end, firstOf); break
      default: reader.skip(tag & 7, end)
    }
  }
  return { revision, succeeded, kv }
}

function watchOf (reader: Reader, end: number): WatchAnswer {
  const answer = { revision: 0, created: false, canceled: false, compacted: 0, reason: '', fragment: false, events: [] as BackendEvent[] }
  while (reader.at < end) {
    const tag = reader.varint(end)
    switch (tag) {
      case bytes(1): answer.revision = nested(reader, end, revisionOf); break
      case number(3): answer.created = reader.bool(end); break
      case number(4): answer.canceled = reader.bool(end); break
      case number(5): answer.compacted = reader.integer(end, 64); break
      case bytes(6): answer.reason = reader.bytes(end).toString('utf8'); break
      case number(7): answer.fragment = reader.bool(end); break
      case bytes(11): answer.events.push(nested(reader, end, eventOf)); break
      default: reader.skip(tag & 7, end)
    }
  }
  return answer
}

function rangeOf (reader: Reader, end: number): RangeAnswer {
  const answer = { revision: 0, kvs: [] as KeyValue[], more: false, count: 0 }
  while (reader.at < end) {
    const tag = reader.varint(end)
    switch (tag) {
      case bytes(1): answer.revision = nested(reader, end, revisionOf); break
      case bytes(2): answer.kvs.push(nested(reader, end, keyValueOf)); break
      case number(3): answer.more = reader.bool(end); break
      case number(4): answer.count = reader.integer(end, 64); break
      default: reader.skip(tag & 7, end)
    }
  }
  return answer
}

/** The one key and value in the answer to a transaction's range, put or delete. */
function firstOf (reader: Reader, end: number): KeyValue | undefined {
  let kv: KeyValue | undefined
  while (reader.at < end) {
    const where = bytes(reader.varint(end) === bytes(3) ? 3 : 2)
    const stop = reader.limit(end)
    while (reader.at < stop) {
      const tag = reader.varint(stop)
      if (tag === where) kv = nested(reader, stop, keyValueOf)
      else reader.skip(tag & 7, stop)
    }
  }
  return kv
}

function revisionOf (reader: Reader, end: number): Revision {
  let revision = 0
  while (reader.at < end) {
    const tag = reader.varint(end)
    if (tag === number(3)) revision = reader.integer(end, 64)
    else reader.skip(tag & 7, end)
  }
  return revision
}

function keyValueOf (reader: Reader, end: number): KeyValue {
  let key = ''
  let value: Uint8Array = EMPTY
  let createRevision = 0
  let modRevision = 0
  while (reader.at < end) {
    const tag = reader.varint(end)
    switch (tag) {
      case bytes(1): key = reader.latin1(end); break
      case number(2): createRevision = reader.integer(end, 64); break
      case number(3): modRevision = reader.integer(end, 64); break
      case bytes(5): value = reader.bytes(end); break
      default: reader.skip(tag & 7, end)
    }
  }
  return { key, value, createRevision, modRevision }
}

const EMPTY = new Uint8Array(0)

function eventOf (reader: Reader, end: number): BackendEvent {
  let type: BackendEvent['type'] = 'put'
  let kv: KeyValue = { key: '', value: EMPTY, createRevision: 0, modRevision: 0 }
  let previous: KeyValue | undefined
  while (reader.at < end) {
    const tag = reader.varint(end)
    switch (tag) {
      case number(1): type = reader.integer(end, 64) === DELETE ? 'delete' : 'put'; break
      case bytes(2): kv = nested(reader, end, keyValueOf); break
      case bytes(3): previous = nested(reader, end, keyValueOf); break
      default: reader.skip(tag & 7, end)
    }
  }
  return { type, kv, previous }
}
