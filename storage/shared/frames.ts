/**
 * The protocol between the process of the store and the others. A frame consists of its length, a kind, the number of
 * the call or watch that it belongs to, and members in a fixed order. Both ends are the same program, so the format has
 * no versions.
 */
import type { BackendEvent, KeyValue, Revision } from '../backend.js'
import { StorageError, type StorageErrorCode } from '../errors.js'

/** Length, kind and number. */
const HEAD = 9
const CHUNK = 64 * 1024
/** Values of at least this size are not copied into the chunk. */
const APART = 16 * 1024
/** Longer frames are refused. */
const MAX_FRAME = 1024 * 1024 * 1024

export enum Kind {
  // Calls, and frames that cancel or advance a watch.
  get, list, count, create, update, delete, compact, revision, status, lease, watch, cancel, progress,
  // Answers.
  result, failure,
  /** The first frame: the revision from which on all changes are pushed. */
  hello,
  /** Changes of all keys, pushed to all. */
  changes,
  compacted, shortage,
  // Of one watch.
  events, reached, caughtUp, ended
}

/** Builds frames, in chunks for one write. Strings are ASCII, or texts of errors. */
export class FrameWriter {
  #chunks: Buffer[] = []
  #buffer = Buffer.allocUnsafeSlow(CHUNK)
  #begin = 0
  #at = 0
  /** Bytes of finished chunks. */
  #full = 0
  /** Start of the current frame: its chunk, its offset there, and the bytes before it. */
  #head: Buffer = this.#buffer
  #headAt = 0
  #before = 0

  get bytes (): number { return this.#full + this.#at - this.#begin }

  begin (kind: Kind, number: number): this {
    this.#before = this.bytes
    this.#room(HEAD)
    this.#head = this.#buffer
    this.#headAt = this.#at
    this.#buffer[this.#at + 4] = kind
    this.#buffer.writeUInt32LE(number, this.#at + 5)
    this.#at += HEAD
    return this
  }

  end (): void { this.#head.writeUInt32LE(this.bytes - this.#before - 4, this.#headAt) }

  byte (value: number): this {
    this.#room(1)
    this.#buffer[this.#at++] = value
    return this
  }

  number (value: number): this {
    this.#room(8)
    this.#at = this.#buffer.writeDoubleLE(value, this.#at)
    return this
  }

  ascii (text: string): this {
    this.#room(4 + text.length)
    this.#at = this.#buffer.writeUInt32LE(text.length, this.#at)
    this.#at += this.#buffer.write(text, this.#at, text.length, 'latin1')
    return this
  }

  text (text: string): this { return this.value(Buffer.from(text)) }

  value (bytes: Uint8Array): this {
    const { length } = bytes
    this.#room(4 + (length < APART ? length : 0))
    this.#at = this.#buffer.writeUInt32LE(length, this.#at)
    if (length < APART) {
      this.#buffer.set(bytes, this.#at)
      this.#at += length
    } else {
      this.#cut()
      this.#chunks.push(Buffer.from(bytes.buffer, bytes.byteOffset, length))
      this.#full += length
    }
    return this
  }

  keyValue ({ key, value, createRevision, modRevision, damage }: KeyValue): this {
    this.ascii(key).number(createRevision).number(modRevision).value(value)
    return damage === undefined ? this.byte(0) : this.byte(1).error(damage)
  }

  optional (kv: KeyValue | undefined): this { return kv === undefined ? this.byte(0) : this.byte(1).keyValue(kv) }

  event ({ type, kv }: BackendEvent, previous: KeyValue | undefined): this {
    return this.byte(type === 'put' ? 1 : 0).keyValue(kv).optional(previous)
  }

  error ({ code, message, key = '', since = NaN }: StorageError): this {
    return this.ascii(code).text(message).ascii(key).number(since)
  }

  /** What was written since the last call. */
  take (): Buffer[] {
    this.#cut()
    this.#full = 0
    return this.#chunks.splice(0)
  }

  #room (bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    this.#cut()
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(CHUNK, bytes))
    this.#begin = this.#at = 0
  }

  #cut (): void {
    if (this.#at === this.#begin) return
    this.#chunks.push(this.#buffer.subarray(this.#begin, this.#at))
    this.#full += this.#at - this.#begin
    this.#begin = this.#at
  }
}

/** Reads the members of one frame, in order. Values are parts of the frame. */
export class Frame {
  readonly kind: Kind
  readonly number: number
  readonly #bytes: Buffer
  #at = HEAD - 4

  /** @param bytes without the length */
  constructor (bytes: Buffer) {
    this.#bytes = bytes
    this.kind = bytes.readUInt8(0)
    this.number = bytes.readUInt32LE(1)
    this.#at = HEAD - 4
  }

  byte (): number { return this.#bytes.readUInt8(this.#at++) }

  revision (): Revision {
    const value = this.#bytes.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  ascii (): string {
    const length = this.#length()
    return this.#bytes.toString('latin1', this.#at, this.#at += length)
  }

  text (): string { return this.value().toString() }

  value (): Buffer {
    const length = this.#length()
    return this.#bytes.subarray(this.#at, this.#at += length)
  }

  keyValue (): KeyValue {
    const kv = { key: this.ascii(), createRevision: this.revision(), modRevision: this.revision(), value: this.value() }
    return this.byte() === 0 ? kv : { ...kv, damage: this.error() }
  }

  optional (): KeyValue | undefined { return this.byte() === 0 ? undefined : this.keyValue() }

  event (): BackendEvent {
    return { type: this.byte() === 1 ? 'put' : 'delete', kv: this.keyValue(), previous: this.optional() }
  }

  events (): BackendEvent[] { return Array.from({ length: this.revision() }, () => this.event()) }

  error (): StorageError {
    const code = this.ascii() as StorageErrorCode // of the same program
    const [message, key, since] = [this.text(), this.ascii(), this.revision()]
    return new StorageError(code, message, {
      ...(key === '' ? {} : { key }), since: Number.isNaN(since) ? undefined : since
    })
  }

  #length (): number {
    const length = this.#bytes.readUInt32LE(this.#at)
    this.#at += 4
    return length
  }
}

/** Splits received bytes into frames. */
export class FrameReader {
  #pieces: Buffer[] = []
  #held = 0
  /** Bytes of the next frame with its length; 0 if unknown. */
  #wanted = 0

  /** @throws RangeError for malformed frames */
  push (piece: Buffer, visit: (frame: Frame) => void): void {
    let rest = piece
    if (this.#held > 0) {
      this.#pieces.push(piece)
      this.#held += piece.length
      if (this.#held < Math.max(4, this.#wanted)) return
      rest = Buffer.concat(this.#pieces.splice(0), this.#held)
      this.#held = 0
    }
    for (;;) {
      this.#wanted = rest.length < 4 ? 0 : rest.readUInt32LE(0) + 4
      if (this.#wanted > MAX_FRAME) throw new RangeError(`a frame of ${this.#wanted} bytes`)
      if (this.#wanted === 0 || rest.length < this.#wanted) break
      visit(new Frame(rest.subarray(4, this.#wanted)))
      rest = rest.subarray(this.#wanted)
    }
    if (rest.length === 0) return
    this.#pieces.push(rest)
    this.#held = rest.length
  }
}
