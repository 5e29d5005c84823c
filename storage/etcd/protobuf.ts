/** Protobuf's wire format, as much of it as etcd's messages use. */

const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const FIXED32 = 5

/**
 * Writes a message from its last field to its first: what is nested is complete, and its length known,
 * before the field that holds it begins.
 */
export class ProtoWriter {
  #buffer: Buffer
  #at: number

  /** @param capacity bytes the whole message will take at most, about; it grows when that was too few */
  constructor (capacity: number) {
    // Room for whatever stands before the message, too.
    this.#buffer = Buffer.allocUnsafe(capacity + 16)
    this.#at = this.#buffer.length
  }

  /** A whole number from 0 to 2^53. */
  number (field: number, value: number): void {
    this.#room(10)
    this.#varint(value)
    this.#tag(field, VARINT)
  }

  /** Any 64-bit integer. */
  big (field: number, value: bigint): void {
    const groups: number[] = []
    let rest = BigInt.asUintN(64, value)
    do {
      groups.push(Number(rest & 0x7fn))
      rest >>= 7n
    } while (rest > 0n)
    this.#room(10)
    groups.forEach((group, i) => { groups[i] = i === groups.length - 1 ? group : group | 0x80 })
    this.#at -= groups.length
    this.#buffer.set(groups, this.#at)
    this.#tag(field, VARINT)
  }

  bytes (field: number, value: Uint8Array): void {
    this.#room(value.length + 10)
    this.#at -= value.length
    this.#buffer.set(value, this.#at)
    this.#varint(value.length)
    this.#tag(field, BYTES)
  }

  /** A field with what `write` writes, which comes last field first as well. */
  nested (field: number, write: () => void): void {
    const end = this.#buffer.length - this.#at
    write()
    this.#room(10)
    this.#varint(this.#buffer.length - this.#at - end)
    this.#tag(field, BYTES)
  }

  /** The message, after what `prefix` makes of its length. */
  finish (prefix: (length: number) => Uint8Array): Buffer {
    const before = prefix(this.#buffer.length - this.#at)
    this.#room(before.length)
    this.#at -= before.length
    this.#buffer.set(before, this.#at)
    return this.#buffer.subarray(this.#at)
  }

  #tag (field: number, type: number): void {
    this.#varint(field * 8 + type)
  }

  #varint (value: number): void {
    let size = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
    this.#at -= size
    let rest = value
    for (let i = 0; i < size; i++) {
      this.#buffer[this.#at + i] = i === size - 1 ? rest : (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
  }

  #room (size: number): void {
    // A tag and a length may follow what is asked for.
    const wanted = size + 10
    if (this.#at >= wanted) return
    const used = this.#buffer.length - this.#at
    const larger = Buffer.allocUnsafe((used + wanted) * 2)
    this.#buffer.copy(larger, larger.length - used, this.#at)
    this.#at = larger.length - used
    this.#buffer = larger
  }
}

/** Reads the fields of a message one after the other. Every method throws a RangeError at broken bytes. */
export class ProtoReader {
  /** The number of the field that `next` found. */
  field = 0
  readonly #buffer: Buffer
  #type = 0
  #at: number
  readonly #end: number

  constructor (buffer: Buffer, start = 0, end = buffer.length) {
    this.#buffer = buffer
    this.#at = start
    this.#end = end
  }

  /** Goes to the next field; false at the end. Its value must then be read or skipped. */
  next (): boolean {
    if (this.#at >= this.#end) return false
    const tag = this.#varint()
    this.field = tag >>> 3
    this.#type = tag & 7
    return true
  }

  number (): number {
    this.#expect(VARINT)
    return this.#varint()
  }

  /** A view of the bytes, not a copy. */
  bytes (): Buffer {
    const start = this.#length()
    return this.#buffer.subarray(start, this.#at)
  }

  latin1 (): string {
    const start = this.#length()
    return this.#buffer.toString('latin1', start, this.#at)
  }

  message (): ProtoReader {
    const start = this.#length()
    return new ProtoReader(this.#buffer, start, this.#at)
  }

  skip (): void {
    switch (this.#type) {
      case VARINT: this.#varint(); break
      case FIXED64: this.#move(8); break
      case BYTES: this.#length(); break
      case FIXED32: this.#move(4); break
      default: throw new RangeError(`a field of the unknown wire type ${this.#type}`)
    }
  }

  /** Moves behind a field of bytes and answers where they start. */
  #length (): number {
    this.#expect(BYTES)
    const length = this.#varint()
    const start = this.#at
    this.#move(length)
    return start
  }

  #expect (type: number): void {
    if (this.#type !== type) throw new RangeError(`field ${this.field} is of the wire type ${this.#type}, not ${type}`)
  }

  #move (bytes: number): void {
    this.#at += bytes
    if (this.#at > this.#end) throw new RangeError('the message is cut off')
  }

  #varint (): number {
    let value = 0
    let scale = 1
    for (let i = 0; i < 10; i++) {
      if (this.#at >= this.#end) break
      // In range: it was just compared with the end.
      const byte = this.#buffer[this.#at++] as number
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 0x80
    }
    throw new RangeError('a number in the message is cut off or too long')
  }
}
