/**
 * Regular expressions in schemas. Clients write them, so neither compiling nor matching may block the event loop. The
 * cost of compiling is estimated first: `(a{1000})` a hundred times is 900 characters and takes 140 ms. Past the
 * budget, expressions count as valid and match every string.
 */
import type * as Re2 from 're2js'
import { onDemand } from '../../on-demand.js'
import type { Steps } from '../../steps.js'
import { search, type Found, type Visited } from './pattern-search.js'

export type { Visited } from './pattern-search.js'

const re2 = onDemand<typeof Re2>('re2js')
/** Budget of all expressions of a definition: characters after expanding repetitions, at up to 4 µs each. */
const MAX = 6000
/** Budget of matching: characters of the strings times the weight of their expression. */
const MAX_MATCHED = 500_000
/** What re2js matches at once, which takes 30 to 80 ns for each at worst, and less for nearly every expression. */
const MAX_MATCHED_AT_ONCE = 100_000
/** For one expression of a type: compiling takes up to 8 µs for each, once. */
const MAX_COMPILED = 10_000
/** For all compiled expressions that are kept, at 100 bytes each. Rules make some of data. */
const MAX_KNOWN = 300_000
/** Which each has, however small. */
const WEIGHT_OF_ANY = 50
/** What compiling takes, in units of matching. */
const MATCHED_PER_COMPILED = 50
const CLASS = /\[\^?\]?(?:\\[^]|[^\]\\])*\]/y
const TIMES = /\{(\d+)(?:,(\d*))?\}/y

/** The approximate number of instructions. Each counted repetition is a copy. */
function weigh (source: string): number {
  const outer: number[] = []
  let [sum, atom, classes] = [0, 0, 0]
  const add = (weight: number): void => { atom = weight; sum += weight }
  for (let at = 0; at < source.length; at++) {
    const next = source[at]
    CLASS.lastIndex = TIMES.lastIndex = at
    const [group, times] = [next === '[' ? CLASS.exec(source) : null, next === '{' ? TIMES.exec(source) : null]
    if (next === '\\') add(/p/i.test(source[++at] ?? '') ? 8 : 1)
    else if (group !== null) {
      add(1)
      classes += group[0].length
      at += group[0].length - 1
    } else if (next === '[') break // unclosed, so invalid
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
  const whole = outer.reduce((all, steps) => all + steps, sum) + classes
  return /\(\?[a-z]*i/i.test(source) ? whole * 4 : whole
}

export interface Expression {
  /** The syntax error, if any. */
  readonly why?: string
  /** Whether it is too large to be compiled: nothing matches. */
  readonly isTooLarge?: boolean
  /** Also true past the budget of a definition. @param visited receives what it takes */
  readonly matches: (text: string, visited: Visited) => Steps<boolean>
}

export interface ObjectExpression extends Expression {
  /** The first part of the text that matches, from a position on. */
  readonly find: (text: string, from: number, visited: Visited) => Steps<Found | undefined>
  /** The approximate number of instructions. */
  readonly weight: number
}

const UNCHECKED: Expression = { * matches () { return true } }

/** In upstream's words, which quote a place in any case. */
const complaint = (error: unknown): string => error instanceof re2().RE2JSSyntaxException
  ? `error parsing regexp: ${error.error}: \`${error.input ?? ''}\``
  : String(error)

/** The expressions of one definition, each compiled once. */
export class Patterns {
  readonly #known = new Map<string, Expression>()
  #left: number
  #matched = 0

  /** @param most the budget; with 0, every expression counts as valid */
  constructor (most = MAX) {
    this.#left = most
  }

  of (source: string): Expression {
    let known = this.#known.get(source)
    if (known === undefined) this.#known.set(source, known = this.#compile(source))
    return known
  }

  #compile (source: string): Expression {
    if (source.length > this.#left) return UNCHECKED
    const weight = Math.max(weigh(source), source.length)
    const affordable = weight <= this.#left
    this.#left -= affordable ? weight : source.length
    if (!affordable) return UNCHECKED
    try {
      const compiled = re2().RE2JS.compile(source)
      const isOver = (text: string): boolean => (this.#matched += text.length * weight) > MAX_MATCHED
      return { * matches (text) { return isOver(text) || compiled.matcher(text).find() } }
    } catch (error) {
      return { ...UNCHECKED, why: complaint(error) }
    }
  }
}

/** The expressions of objects, in which every string is matched. */
export class ObjectPatterns {
  readonly #known = new Map<string, ObjectExpression>()
  readonly #most: number
  #weight = 0

  /** @param most the weight of one expression; a heavier one matches nothing */
  constructor (most = MAX_COMPILED) { this.#most = most }

  /** @param spent receives what compiling takes if the expression is not known */
  of (source: string, spent: (count: number) => void): ObjectExpression {
    let known = this.#known.get(source)
    if (known !== undefined) return known
    const { weight } = known = compileFor(source, this.#most)
    spent(weight * MATCHED_PER_COMPILED)
    this.#weight += weight + WEIGHT_OF_ANY
    if (this.#weight > MAX_KNOWN) {
      this.#known.clear()
      this.#weight = weight + WEIGHT_OF_ANY
    }
    if (known.isTooLarge !== true) this.#known.set(source, known)
    return known
  }
}

const NOTHING: Pick<ObjectExpression, 'matches' | 'find'> = {
  * matches () { return false },
  * find () { return undefined }
}

function compileFor (source: string, most: number): ObjectExpression {
  const weight = source.length > most ? source.length : Math.max(weigh(source), source.length)
  if (weight > most) return { ...NOTHING, weight: 0, isTooLarge: true }
  let compiled: Re2.RE2JS
  try {
    compiled = re2().RE2JS.compile(source)
  } catch (error) {
    // In a schema, it is past the budget of its definition, so it was not compiled there.
    return { ...NOTHING, weight, why: error instanceof Error ? error.message : String(error) }
  }
  const costOf = (text: string, from: number): number => (text.length - from) * weight
  return {
    weight,
    * matches (text, visited) {
      const cost = costOf(text, 0)
      if (cost > MAX_MATCHED_AT_ONCE) return (yield * search(compiled, text, { some: true }, visited)) !== undefined
      if (visited(cost)) yield
      return compiled.matcher(text).find()
    },
    * find (text, from, visited) {
      const cost = costOf(text, from)
      if (cost > MAX_MATCHED_AT_ONCE) return yield * search(compiled, text, { from }, visited)
      if (visited(cost)) yield
      const matcher = compiled.matcher(text)
      return matcher.find(from) ? [matcher.start(), matcher.end()] : undefined
    }
  }
}
