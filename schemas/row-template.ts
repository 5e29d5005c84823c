/** Rows of tables as JSON that stays the same while the ages in it grow. */
import { randomBytes } from 'node:crypto'
import type { Ages } from './meta/duration.js'

/** Stands for an age; random, so that no client can write it. */
const MARK = randomBytes(18).toString('base64url')

/** Writes marks, and notes which ages they stand for. */
export class MarkedAges implements Ages {
  readonly moments: number[] = []

  since (then: number): string {
    this.moments.push(then)
    return MARK
  }
}

export class RowTemplate {
  /** Text between ages: strings take less memory than as many small buffers. */
  readonly #parts: readonly string[]
  /** Milliseconds since the epoch, one for each mark. */
  readonly #moments: readonly number[]

  private constructor (parts: readonly string[], moments: readonly number[]) {
    this.#parts = parts
    this.#moments = moments
  }

  /** Undefined if some age was left out, or did not stay what it was. */
  static of (json: string, { moments }: MarkedAges): RowTemplate | undefined {
    const parts = json.split(MARK)
    return parts.length === moments.length + 1 ? new RowTemplate(parts, moments) : undefined
  }

  /** Of text without ages. */
  static ofText (json: string): RowTemplate { return new RowTemplate([json], []) }

  /** Bytes of memory. */
  get size (): number { return this.#parts.reduce((sum, { length }) => sum + length + PART_BYTES, 0) }

  /** The text with these ages, and bytes after it. @param memory for as many bytes */
  written (ages: Ages, after: readonly Uint8Array[], memory: (bytes: number) => Buffer): Buffer {
    let text = this.#parts[0] ?? ''
    for (const [index, then] of this.#moments.entries()) text += ages.since(then) + (this.#parts[index + 1] ?? '')
    let at = Buffer.byteLength(text)
    const row = memory(after.reduce((sum, { length }) => sum + length, at))
    row.write(text)
    for (const bytes of after) {
      row.set(bytes, at)
      at += bytes.length
    }
    return row
  }
}

/** A string and its place, and the moment after it. */
const PART_BYTES = 40
