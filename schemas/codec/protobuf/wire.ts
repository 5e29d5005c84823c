/**
 * The protobuf wire format: tags, varints, lengths. The writer fills its buffer backwards, so the length of a nested
 * message is known when its prefix is written; callers write fields in descending order. The reader throws DecodeError
 * for malformed input.
 */
import { isUtf8 } from 'node:buffer'
import type { Int64 } from '../../language/declare.js'
import { DecodeError } from '../../language/decode-error.js'

export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2
const START_GROUP = 3
const END_GROUP = 4
const FIXED32 = 5

/** The tag of a length-delimited field. */
export const bytesTag = (number: number) => number << 3 | BYTES

/** Characters of a short string. */
const SHORT = 64

const HIGH = 0x100000000

export class Writer {
  #buffer: Buffer
  /** Everything from here to the end of the buffer is written. */
  #start: number

  constructor (size = 1024) {
    this.#buffer = Buffer.allocUnsafe(size)
    this.#start = size
  }

  /** Capacity in bytes. */
  get size (): number { return this.#buffer.length }

  /** Starts over in the same memory, overwriting earlier results. */
  reset (): void { this.#start = this.#buffer.length }

  /** Bytes written so far. */
  get length (): number { return this.#buffer.length - this.#start }

  #reserve (size: number): number {
    if (size > this.#start) {
      const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.length + size))
      const start = grown.length - this.length
      this.#buffer.copy(grown, start, this.#start)
      this.#buffer = grown
      this.#start = start
    }
    this.#start -= size
    return this.#start
  }

  /** An unsigned number below 2^32. */
  varint (value: number): void {
    if (value < 128 && this.#start > 0) {
      this.#buffer[--this.#start] = value
      return
    }
    let size = 1
    for (let rest = value >>> 7; rest !== 0; rest >>>= 7) size++
    let at = this.#reserve(size)
    let rest = value >>> 0
    while (rest > 127) {
      this.#buffer[at++] = rest & 127 | 128
      rest >>>= 7
    }
    this.#buffer[at] = rest
  }

  /** A signed 64-bit integer: int32 and int64. */
  integer (value: Int64): void {
    if (value >= 0 && value < HIGH) return this.varint(Number(value))
    let low = typeof value === 'bigint' ? Number(BigInt.asUintN(32, value)) : value >>> 0
    let high = typeof value === 'bigint' ? Number(BigInt.asUintN(32, value >> 32n)) : Math.floor(value / HIGH) >>> 0
    const bytes: number[] = []
    while (high !== 0 || low > 127) {
      bytes.push(low & 127 | 128)
      low = (low >>> 7 | high << 25) >>> 0
      high >>>= 7
    }
    bytes.push(low)
    this.bytes(Uint8Array.from(bytes))
  }

  double (value: number): void {
    const at = this.#reserve(8)
    this.#buffer.writeDoubleLE(value, at)
  }

  bytes (value: Uint8Array): void {
    const at = this.#reserve(value.length)
    this.#buffer.set(value, at)
  }

  /** A part of other bytes, preceded by its length. */
  part (source: Uint8Array, from: number, to: number): void {
    const size = to - from
    const start = this.#reserve(size)
    const buffer = this.#buffer
    if (size <= SHORT) for (let at = 0; at < size; at++) buffer[start + at] = source[from + at] as number
    else buffer.set(source.subarray(from, to), start)
    this.varint(size)
  }

  /** The text, preceded by its length. */
  string (value: string): void {
    const { length } = value
    // For short ASCII, the most frequent case: 45 ns for a name of ten characters, where `byteLength` and `write` take
    // 117. Benchmark: `npm run bench -- structured`, 'create, warm, ClusterRoleBindings, embedded, beside a bare server
    // that reads the body'.
    if (length <= SHORT) {
      const start = this.#reserve(length)
      const buffer = this.#buffer
      let index = 0
      for (; index < length; index++) {
        const code = value.charCodeAt(index)
        if (code > 127) break
        buffer[start + index] = code
      }
      if (index === length) return this.varint(length)
      this.#start += length
    }
    const size = Buffer.byteLength(value)
    const at = this.#reserve(size) // may replace #buffer
    this.#buffer.write(value, at)
    this.varint(size)
  }

  finish (): Buffer {
    return this.#buffer.subarray(this.#start)
  }
}

const MAX_SCRATCH = 1024 * 1024

/** A reusable writer, which avoids garbage: each result is valid until the next `take`. */
export class Scratch {
  readonly #size: number
  #writer: Writer

  constructor (size: number) {
    this.#size = size
    this.#writer = new Writer(size)
  }

  /** An empty writer. */
  take (): Writer {
    if (this.#writer.size > MAX_SCRATCH) this.#writer = new Writer(this.#size)
    this.#writer.reset()
    return this.#writer
  }
}

/* A fixed-size cache; each slot holds the last short string that hashed to it. */
const RECENT: Array<string | undefined> = new Array(2048)
const RECENT_MASK = 2047

const truncated = () => new DecodeError('the protobuf message is cut short')

export class Reader {
  readonly #bytes: Buffer
  at: number
  readonly end: number
  /** Remaining list items, map entries, nested messages and values of raw JSON. */
  valuesLeft = Infinity
  /** Remaining map entries and items of keyed lists. */
  entriesLeft = Infinity
  /** Remaining known fields of any kind. */
  fieldsLeft = Infinity

  constructor (bytes: Uint8Array) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = 0
    this.end = bytes.length
  }

  /** An unsigned number below 2^32: tags and lengths. */
  varint (end: number): number {
    if (this.at < end) {
      const byte = this.#bytes[this.at] ?? 0
      if (byte < 128) {
        this.at++
        return byte
      }
    }
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= end) throw truncated()
      const byte = this.#bytes[this.at++] ?? 0
      if (shift < 28) value |= (byte & 127) << shift
      else if (shift === 28) value = (value | (byte & 15) << 28) >>> 0
      if (byte < 128) return value >>> 0
    }
    throw new DecodeError('the protobuf message holds a number of more than 10 bytes')
  }

  bool (end: number): boolean {
    return this.int64(end) !== 0
  }

  /** A signed integer: of 32 bits, truncated, or of 64 bits if a safe number. */
  integer (end: number, bits: 32 | 64): number {
    const value = this.int64(end)
    if (bits === 32) return typeof value === 'bigint' ? Number(BigInt.asIntN(32, value)) : value | 0
    if (typeof value === 'bigint') {
      throw new DecodeError('the protobuf message holds an integer beyond ±9007199254740991')
    }
    return value
  }

  int64 (end: number): Int64 {
    let low = 0
    let high = 0
    for (let index = 0; index < 10; index++) {
      if (this.at >= end) throw truncated()
      const byte = this.#bytes[this.at++] ?? 0
      const part = byte & 127
      if (index < 4) low |= part << 7 * index
      else if (index === 4) {
        low |= part << 28
        high = part >>> 4
      } else high |= part << 7 * index - 32
      if (byte < 128) {
        const value = (high | 0) * HIGH + (low >>> 0)
        return Number.isSafeInteger(value) ? value : BigInt(high | 0) << 32n | BigInt(low >>> 0)
      }
    }
    throw new DecodeError('the protobuf message holds a number of more than 10 bytes')
  }

  double (end: number): number {
    if (end - this.at < 8) throw truncated()
    this.at += 8
    return this.#bytes.readDoubleLE(this.at - 8)
  }

  /** Reads a length and returns the end of the content, at most `end`. */
  limit (end: number): number {
    const length = this.varint(end)
    if (length > end - this.at) throw truncated()
    return this.at + length
  }

  string (end: number): string {
    const stop = this.limit(end)
    const start = this.at
    this.at = stop
    const length = stop - start
    if (length <= SHORT) {
      let hash = length
      let index = start
      for (; index < stop; index++) {
        const byte = this.#bytes[index] ?? 0
        if (byte > 127) break
        hash = Math.imul(hash, 31) + byte | 0
      }
      if (index === stop) return this.#ascii(start, stop, hash & RECENT_MASK)
    }
    if (!isUtf8(this.#bytes.subarray(start, stop))) {
      throw new DecodeError(`the protobuf message holds text that is not UTF-8, at byte ${start}`)
    }
    return this.#bytes.toString('utf8', start, stop)
  }

  /** Groups, kinds and label keys recur, so recent strings are reused. */
  #ascii (start: number, stop: number, slot: number): string {
    const recent = RECENT[slot]
    if (recent !== undefined && recent.length === stop - start) {
      let index = 0
      while (index < recent.length && recent.charCodeAt(index) === this.#bytes[start + index]) index++
      if (index === recent.length) return recent
    }
    return (RECENT[slot] = this.#bytes.toString('latin1', start, stop))
  }

  /** A view. */
  bytes (end: number): Buffer {
    const stop = this.limit(end)
    const start = this.at
    this.at = stop
    return this.#bytes.subarray(start, stop)
  }

  /** Skips an unknown field. The depth of nested groups is limited. */
  skip (wireType: number, end: number, depth = 0): void {
    switch (wireType) {
      case VARINT: this.varint(end); return
      case FIXED64: this.#advance(8, end); return
      case BYTES: this.at = this.limit(end); return
      case FIXED32: this.#advance(4, end); return
      case START_GROUP: {
        if (depth > 100) throw new DecodeError('the protobuf message nests too deeply')
        for (;;) {
          const tag = this.varint(end)
          if ((tag & 7) === END_GROUP) return
          this.skip(tag & 7, end, depth + 1)
        }
      }
      default: throw new DecodeError(`the protobuf message holds a field of the unknown wire type ${wireType}`)
    }
  }

  #advance (size: number, end: number): void {
    if (size > end - this.at) throw truncated()
    this.at += size
  }
}
