/** The JSON of an object whose resourceVersion is known only after the write. */
import { joinJson, type SplitJson } from '../../schemas/codec/json/encode.js'
import { countValues, UNBOUNDED } from '../../schemas/codec/json/parse.js'
import { ownBytes } from '../bytes.js'

export class UnversionedJson {
  readonly #split: SplitJson
  /** In bytes, without the resourceVersion. */
  readonly length: number

  constructor (split: SplitJson) {
    this.#split = split
    this.length = Buffer.byteLength(split.head) + Buffer.byteLength(split.tail)
  }

  /** Counts list items and object members. */
  values (): number { return countValues(this.at(1), UNBOUNDED).values }

  /** Whether an entry with these bytes contains the same object, regardless of its version. */
  isOf (json: Buffer, revision: number): boolean { return json.equals(this.at(revision)) }

  /** The JSON with that resourceVersion and a newline. */
  at (revision: number): Buffer { return ownBytes(joinJson(this.#split, String(revision))) }
}
