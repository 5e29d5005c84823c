/**
 * The JSON of an object in bytes, with room where its resourceVersion goes: what it will be is known after the write, and what is
 * there before is compared with it. The text becomes bytes once, for both.
 */
import { countValues, joinJson, UNBOUNDED } from '../../schemas/index.js'
import type { SplitJson } from '../../schemas/index.js'

const NEWLINE = 0x0a
const SPACE = 0x20
const NEWLINE_LENGTH = 1

/** What stands in the room, all ASCII. */
const versionText = (revision: number): string => joinJson({ head: '', tail: '' }, String(revision))

/** Of the last one: revisions grow, and seldom by a digit. */
let room = versionText(1).length

export class UnversionedJson {
  /** Memory of its own, as entries keep it (`bytes.ts`). */
  readonly #bytes: Buffer
  readonly #headEnd: number
  readonly #tailStart: number
  /** Its memory is an entry's. */
  #taken = false

  constructor ({ head, tail }: SplitJson) {
    this.#headEnd = Buffer.byteLength(head)
    this.#tailStart = this.#headEnd + room
    const end = this.#tailStart + Buffer.byteLength(tail)
    this.#bytes = Buffer.allocUnsafeSlow(end + NEWLINE_LENGTH)
    this.#bytes.write(head, 0, this.#headEnd)
    this.#bytes.write(tail, this.#tailStart, end - this.#tailStart)
    this.#bytes[end] = NEWLINE
  }

  /** Bytes, with room for the resourceVersion. */
  get length (): number { return this.#bytes.length }

  /** List items and object members. To be asked before it is given a version. */
  values (): number {
    this.#bytes.fill(SPACE, this.#headEnd, this.#tailStart)
    return countValues(this.#bytes, UNBOUNDED).values
  }

  /** Whether an entry with these bytes shows the same object, whatever its version. */
  isOf (json: Buffer, revision: number): boolean {
    const [headEnd, tailStart] = [this.#headEnd, this.#headEnd + versionText(revision).length]
    return json.length - tailStart === this.#bytes.length - this.#tailStart &&
      json.compare(this.#bytes, 0, headEnd, 0, headEnd) === 0 &&
      json.compare(this.#bytes, this.#tailStart, this.#bytes.length, tailStart) === 0
  }

  /** The whole JSON with that resourceVersion and a newline at its end, not to be written to. */
  at (revision: number): Buffer {
    const text = versionText(revision)
    const fits = !this.#taken && this.#tailStart - this.#headEnd === text.length
    const whole = fits ? this.#bytes : this.#copy(text.length)
    this.#taken = true
    room = text.length
    whole.write(text, this.#headEnd, 'latin1')
    return whole
  }

  #copy (room: number): Buffer {
    const tail = this.#bytes.subarray(this.#tailStart)
    const copy = Buffer.allocUnsafeSlow(this.#headEnd + room + tail.length)
    copy.set(this.#bytes.subarray(0, this.#headEnd))
    copy.set(tail, this.#headEnd + room)
    return copy
  }
}
