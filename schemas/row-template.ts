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
  /** Text between ages. */
  readonly #parts: readonly Buffer[]
  /** Milliseconds since the epoch, one for each mark. */
  readonly #moments: readonly number[]
  readonly #length: number

  private constructor (parts: readonly string[], moments: readonly number[]) {
    this.#parts = parts.map(part => Buffer.from(part))
    this.#moments = moments
    this.#length = this.#parts.reduce((sum, { length }) => sum + length, 0)
  }

  /** Undefined if some age was left out, or did not stay what it was. */
  static of (json: string, { moments }: MarkedAges): RowTemplate | undefined {
    const parts = json.split(MARK)
    return parts.length === moments.length + 1 ? new RowTemplate(parts, moments) : undefined
  }

  /** Of text without ages. */
  static ofText (json: string): RowTemplate { return new RowTemplate([json], []) }

  /** Bytes of memory. */
  get size (): number { return this.#length + this.#parts.length * 100 }

  /** The text with these ages, and bytes after it. */
  written (ages: Ages, after: readonly Uint8Array[]): Buffer {
    const texts = this.#moments.map(then => ages.since(then))
    let length = this.#length
    for (const text of texts) length += text.length
    for (const bytes of after) length += bytes.length
    const made = Buffer.allocUnsafe(length)
    let at = 0
    for (const [index, part] of this.#parts.entries()) {
      made.set(part, at)
      at += part.length
      const text = texts[index]
      if (text !== undefined) at += made.write(text, at, 'latin1')
    }
    for (const bytes of after) {
      made.set(bytes, at)
      at += bytes.length
    }
    return made
  }
}
