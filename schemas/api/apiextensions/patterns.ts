/**
 * Regular expressions in schemas, which come from whoever may define types: none may hold up the event loop, neither when it is
 * compiled nor when it is matched. What compiling takes is estimated first, as `(a{1000})` a hundred times is nine hundred
 * characters and 140 ms; those that no time is left for are taken for right.
 */
import type * as Re2 from 're2js'
import { onDemand } from '../../on-demand.js'

const re2 = onDemand<typeof Re2>('re2js')
/** Of all expressions of a definition together, in characters after repetitions are written out: each takes up to 4 µs. */
const MAX = 6000
/** Characters that are matched, times the weight of what they are matched with. */
const MAX_MATCHED = 500_000
const CLASS = /\[\^?\]?(?:\\[^]|[^\]\\])*\]/y
const TIMES = /\{(\d+)(?:,(\d*))?\}/y

/** How many instructions it will be, about: repetitions with numbers are copies. */
function weigh (source: string): number {
  const outer: number[] = []
  let [sum, atom] = [0, 0]
  const add = (weight: number): void => { atom = weight; sum += weight }
  for (let at = 0; at < source.length; at++) {
    const next = source[at]
    CLASS.lastIndex = TIMES.lastIndex = at
    const [group, times] = [next === '[' ? CLASS.exec(source) : null, next === '{' ? TIMES.exec(source) : null]
    if (next === '\\') add(/p/i.test(source[++at] ?? '') ? 8 : 1)
    else if (group !== null) {
      add(group[0].length)
      at += group[0].length - 1
    } else if (next === '[') break // never closed: wrong
    else if (times !== null) {
      const copies = Math.max(Number(times[1]), Number(times[2] ?? 0), 1)
      sum += atom * (copies - 1)
      atom *= copies
      at += times[0].length - 1
    } else if (next === '(') {
      outer.push(sum)
      sum = 0
    } else if (next === ')') {
      const inner = sum
      sum = outer.pop() ?? 0
      add(inner)
    } else add(1)
  }
  const whole = outer.reduce((all, one) => all + one, sum)
  return /\(\?[a-z]*i/i.test(source) ? whole * 4 : whole
}

export interface Expression {
  /** What is wrong with it. */
  readonly why?: string
  /** True as well where it would take too long. */
  readonly matches: (text: string) => boolean
}

const UNJUDGED: Expression = { matches: () => true }

/** Those of one definition, each compiled once. */
export class Patterns {
  readonly #known = new Map<string, Expression>()
  #left: number
  readonly #maxMatched: number
  #matched = 0

  /** @param most with 0 none is judged */
  constructor (most = MAX, maxMatched = MAX_MATCHED) {
    this.#left = most
    this.#maxMatched = maxMatched
  }

  of (source: string): Expression {
    let known = this.#known.get(source)
    if (known === undefined) this.#known.set(source, known = this.#compile(source))
    return known
  }

  #compile (source: string): Expression {
    if (source.length > this.#left) return UNJUDGED
    const weight = Math.max(weigh(source), source.length)
    const affordable = weight <= this.#left
    this.#left -= affordable ? weight : source.length
    if (!affordable) return UNJUDGED
    try {
      const compiled = re2().RE2JS.compile(source)
      return {
        matches: text => {
          this.#matched += text.length * weight
          return this.#matched > this.#maxMatched || compiled.matcher(text).find()
        }
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return { why: why.endsWith('`') ? why : `${why}: \`\``, matches: () => true }
    }
  }
}
