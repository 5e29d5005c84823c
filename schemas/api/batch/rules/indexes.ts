/** Sets of indexes in text, such as `1,3-5,7`. Read in place, as a status may hold a hundred thousand of them. */

const [COMMA, DASH, ZERO] = [44, 45, 48]
const MAX_DIGITS = 10

interface Range { first: number, last: number }

/** Reads the ranges of a set one by one, and stops at what is wrong: not ascending, or not below `completions`. */
class Ranges {
  fault: string | undefined
  readonly #text: string
  readonly #completions: number
  #at = 0
  #last = -1

  constructor (text: string, completions: number) {
    this.#text = text
    this.#completions = completions
  }

  /** Undefined at the end, and at a fault. */
  next (): Range | undefined {
    if (this.fault !== undefined || this.#at > this.#text.length || this.#text === '') return undefined
    const start = this.#at
    const first = this.#number()
    const isRange = this.#text.charCodeAt(this.#at) === DASH
    if (isRange) this.#at++
    const last = isRange ? this.#number() : first
    const isWhole = this.#at === this.#text.length || this.#text.charCodeAt(this.#at) === COMMA
    if (first === undefined || last === undefined || !isWhole) return this.#fail(this.#unreadable(start))
    if (isRange && last <= first) return this.#fail(`non-increasing order, previous: ${first}, current: ${last}`)
    if (first <= this.#last) return this.#fail(`non-increasing order, previous: ${this.#last}, current: ${first}`)
    if (last >= this.#completions) return this.#fail(`too large index: ${JSON.stringify(String(last))}`)
    this.#at++
    this.#last = last
    return { first, last }
  }

  #number (): number | undefined {
    const [text, start] = [this.#text, this.#at]
    let [at, value] = [start, 0]
    for (; at < text.length && at - start <= MAX_DIGITS; at++) {
      const digit = text.charCodeAt(at) - ZERO
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
    }
    this.#at = at
    return at === start || at - start > MAX_DIGITS ? undefined : value
  }

  #unreadable (start: number): string {
    const [part = ''] = this.#text.slice(start, start + 100).split(',', 1)
    return `cannot convert string to integer for index: ${JSON.stringify(part)}`
  }

  #fail (fault: string): undefined {
    this.fault = fault
    return undefined
  }
}

/** The number of indexes; a text that says what is wrong if they are not ascending and below `completions`. */
export function countIndexes (text: string, completions: number): number | string {
  const ranges = new Ranges(text, completions)
  let total = 0
  for (let range = ranges.next(); range !== undefined; range = ranges.next()) total += range.last - range.first + 1
  return ranges.fault ?? total
}

/** The first index that two sets have in common, before the first fault of either. */
export function firstCommonIndex (one: string, other: string, completions: number): number | undefined {
  const [ours, theirs] = [new Ranges(one, completions), new Ranges(other, completions)]
  let [our, their] = [ours.next(), theirs.next()]
  while (our !== undefined && their !== undefined) {
    if (our.first <= their.last && their.first <= our.last) return Math.max(our.first, their.first)
    if (our.last < their.last) our = ours.next()
    else their = theirs.next()
  }
  return undefined
}
