/** Finds texts in texts. The engine's own search takes the product of both lengths at worst, so it gets short ones. */
import type { Steps } from '../schemas/steps.js'
import type { Meter } from './meter.js'

/** Product of the lengths that takes up to a millisecond. */
const SHORT = 2_000_000
const UNITS_PER_WORK = 64

/** Of one text for another one. */
export class Search {
  readonly #text: string
  readonly #wanted: string
  readonly #meter: Meter
  #borders: Int32Array | undefined

  constructor (text: string, wanted: string, meter: Meter) {
    this.#text = text
    this.#wanted = wanted
    this.#meter = meter
  }

  /** The first place at or after a code unit; -1 if there is none. */
  * from (start: number): Steps<number> {
    if (this.#isShort(start, this.#text.length)) return this.#text.indexOf(this.#wanted, start)
    return yield * this.#scan(start, this.#text.length, true)
  }

  /** The last place at or before a code unit; -1 if there is none. */
  * upTo (end: number): Steps<number> {
    if (this.#isShort(0, end)) return this.#text.lastIndexOf(this.#wanted, end)
    return yield * this.#scan(0, Math.min(this.#text.length, end + this.#wanted.length), false)
  }

  #isShort (start: number, end: number): boolean { return (end - start) * this.#wanted.length <= SHORT }

  /** As Knuth, Morris and Pratt: no unit of the text is looked at twice. */
  * #scan (start: number, end: number, first: boolean): Steps<number> {
    const [text, wanted] = [this.#text, this.#wanted]
    const borders = this.#borders ??= yield * this.#bordersOf()
    let [matched, position] = [0, -1]
    for (let at = start; at < end; at++) {
      if (at % UNITS_PER_WORK === 0 && this.#isDue()) yield
      const unit = text.charCodeAt(at)
      while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0
      if (wanted.charCodeAt(matched) === unit) matched++
      if (matched < wanted.length) continue
      position = at + 1 - matched
      if (first) return position
      matched = borders[matched - 1] ?? 0
    }
    return position
  }

  /** For each prefix of what is wanted, the length of the longest other one that it ends with. */
  * #bordersOf (): Steps<Int32Array> {
    const wanted = this.#wanted
    const borders = new Int32Array(wanted.length)
    for (let at = 1, matched = 0; at < wanted.length; at++) {
      if (at % UNITS_PER_WORK === 0 && this.#isDue()) yield
      while (matched > 0 && wanted.charCodeAt(matched) !== wanted.charCodeAt(at)) matched = borders[matched - 1] ?? 0
      if (wanted.charCodeAt(matched) === wanted.charCodeAt(at)) matched++
      borders[at] = matched
    }
    return borders
  }

  #isDue (): boolean {
    this.#meter.work(1)
    return this.#meter.isDue
  }
}
