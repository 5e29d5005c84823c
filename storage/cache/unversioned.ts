/**
 * JSON bytes of an object with a gap for its resourceVersion, which is known only after the write. The same bytes serve the comparison with the current
 * object.
 */
import { countValues, joinJson, UNBOUNDED } from '../../schemas/index.js'
import type { SplitJson } from '../../schemas/index.js'

const NEWLINE = 0x0a
const SPACE = 0x20
const NEWLINE_LENGTH = 1

/** The text in the gap, all ASCII. */
const versionText = (revision: number): string => joinJson({ head: '', tail: '' }, String(revision))

/** Length of the last version: revisions rarely gain a digit. */
let versionLength = versionText(1).length

export class UnversionedJson {
  /** A separate allocation, as for entries (`bytes.ts`). */
  readonly #bytes: Buffer
  readonly #headEnd: number
  readonly #tailStart: number
  /** True once an entry uses the allocation. */
  #handedOut = false

  constructor ({ head, tail }: SplitJson) {
    this.#headEnd = Buffer.byteLength(head)
    this.#tailStart = this.#headEnd + versionLength
    const end = this.#tailStart + Buffer.byteLength(tail)
    this.#bytes = Buffer.allocUnsafeSlow(end + NEWLINE_LENGTH)
    this.#bytes.write(head, 0, this.#headEnd)
    this.#bytes.write(tail, this.#tailStart, end - this.#tailStart)
    this.#bytes[end] = NEWLINE
  }

  /** In bytes, gap included. */
  get length (): number { return this.#bytes.length }

  /** Counts list items and object members. Call it before `at`. */
  values (): number {
    this.#bytes.fill(SPACE, this.#headEnd, this.#tailStart)
    return countValues(this.#bytes, UNBOUNDED).values
  }

  /** Whether an entry with these bytes contains the same object, regardless of its version. */
  isOf (json: Buffer, revision: number): boolean {
    const [headEnd, tailStart] = [this.#headEnd, this.#headEnd + versionText(revision).length]
    return json.length - tailStart === this.#bytes.length - this.#tailStart &&
      json.compare(this.#bytes, 0, headEnd, 0, headEnd) === 0 &&
      json.compare(this.#bytes, this.#tailStart, this.#bytes.length, tailStart) === 0
  }

  /** The JSON with that resourceVersion and a newline. Shared: never write to it. */
  at (revision: number): Buffer {
    const text = versionText(revision)
    const fits = !this.#handedOut && this.#tailStart - this.#headEnd === text.length
    const whole = fits ? this.#bytes : this.#copy(text.length)
    this.#handedOut = true
    versionLength = text.length
    whole.write(text, this.#headEnd, 'latin1')
    return whole
  }

  #copy (versionLength: number): Buffer {
    const tail = this.#bytes.subarray(this.#tailStart)
    const copy = Buffer.allocUnsafeSlow(this.#headEnd + versionLength + tail.length)
    copy.set(this.#bytes.subarray(0, this.#headEnd))
    copy.set(tail, this.#headEnd + versionLength)
    return copy
  }
}
