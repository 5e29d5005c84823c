/**
 * Regular expressions in schemas. Clients write them, so neither compiling nor matching may block the event loop. The
 * cost of compiling is estimated first: `(a{1000})` a hundred times is 900 characters and takes 140 ms. Past the
 * budget, expressions count as valid and match every string.
 */
import type * as Re2 from 're2js'
import { onDemand } from '../../on-demand.js'

const re2 = onDemand<typeof Re2>('re2js')
/** Budget of all expressions of a definition: characters after expanding repetitions, at up to 4 µs each. */
const MAX = 6000
/** Budget of matching: characters of the strings times the weight of their expression. */
const MAX_MATCHED = 500_000
/** For one string of an object: matching takes 30 to 80 ns for each at worst, and less for nearly every expression. */
const MAX_MATCHED_AT_ONCE = 2_000_000
/** For all strings of an object. Seconds at worst, in steps. */
export const MAX_MATCHED_OF_OBJECT = 50_000_000
/** For one expression of a type: compiling takes up to 4 µs for each, once. */
const MAX_COMPILED = 20_000
/** Compiled expressions that are kept. Rules make some of data. */
const MAX_KNOWN = 1000
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
  const whole = outer.reduce((all, one) => all + one, sum) + classes
  return /\(\?[a-z]*i/i.test(source) ? whole * 4 : whole
}

export interface Expression {
  /** The syntax error, if any. */
  readonly why?: string
  /** Also true past the budget of a definition. */
  readonly matches: (text: string) => boolean
  /** Whether matching the text would block the event loop. */
  readonly tooLong: (text: string) => boolean
  /** What matching the text takes at worst: its characters times the weight of the expression. */
  readonly costOf: (text: string) => number
}

export interface ObjectExpression extends Expression {
  /** The parts of the text that match. Finding each may take as long as matching the whole text. */
  readonly matchesIn: (text: string) => Iterable<string>
  /** The approximate number of instructions. */
  readonly weight: number
}

const never = (): boolean => false
const free = (): number => 0
const UNCHECKED: Expression = { matches: () => true, tooLong: never, costOf: free }

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
      return {
        matches: text => {
          this.#matched += text.length * weight
          return this.#matched > MAX_MATCHED || compiled.matcher(text).find()
        },
        tooLong: never,
        costOf: free // it has a budget of its own
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return { ...UNCHECKED, why: why.endsWith('`') ? why : `${why}: \`\`` }
    }
  }
}

/** The expressions of objects: every string is matched, unless it is too long. */
export class ObjectPatterns {
  readonly #known = new Map<string, ObjectExpression>()
  readonly #most: number

  /** @param most the weight of one expression; a heavier one is too long for every text */
  constructor (most = MAX_COMPILED) { this.#most = most }

  /** @param compiled is called if the expression was not known */
  of (source: string, compiled?: (weight: number) => void): ObjectExpression {
    let known = this.#known.get(source)
    if (known === undefined) {
      if (this.#known.size >= MAX_KNOWN) this.#known.clear()
      this.#known.set(source, known = compileFor(source, this.#most))
      compiled?.(known.weight)
    }
    return known
  }
}

const none = (): Iterable<string> => []

function compileFor (source: string, most: number): ObjectExpression {
  const weight = source.length > most ? source.length : Math.max(weigh(source), source.length)
  if (weight > most) return { weight: 0, matches: never, matchesIn: none, tooLong: () => true, costOf: free }
  try {
    const compiled = re2().RE2JS.compile(source)
    const costOf = (text: string): number => text.length * weight
    return {
      matches: text => compiled.matcher(text).find(),
      weight,
      costOf,
      matchesIn: function * (text) {
        const matcher = compiled.matcher(text)
        while (matcher.find()) yield matcher.group() ?? ''
      },
      tooLong: text => costOf(text) > MAX_MATCHED_AT_ONCE
    }
  } catch (error) {
    // In a schema, it is past the budget of its definition, so it was not compiled there.
    return {
      why: error instanceof Error ? error.message : String(error), weight, matches: never, matchesIn: none,
      tooLong: never, costOf: free
    }
  }
}
