/**
 * Label selectors: `app=web,tier in (front, back),!old,replicas>3`. All requirements must match; `!=` and notin also
 * match objects without the label. Errors are DecodeErrors.
 */
import { DecodeError } from '../language/decode-error.js'
import { labelValue, qualifiedName } from '../names.js'
import { listed } from '../status.js'
import { ownCopy, REQUIREMENT_BYTES, Shared, Values } from './held.js'
import { excerpt, quoted } from './excerpt.js'
import type { SelectorRequirement } from './requirement.js'

export type Labels = Readonly<Record<string, string>>

/** A parsed selector. */
export interface Selector<T> {
  /** Matches everything. */
  readonly empty: boolean
  readonly matches: (subject: T) => boolean
  /** Canonical text: equal selectors have equal text. */
  readonly text: string
  /** Approximate bytes in memory. */
  readonly weight: number
}
export type LabelSelectorMatcher = Selector<Labels | undefined>

type Operator = 'in' | 'notin' | '=' | '!=' | 'exists' | '!' | '>' | '<'

interface Requirement {
  readonly key: string
  readonly operator: Operator
  readonly values: readonly string[]
}

/** Selects everything. */
export const NO_LABELS: LabelSelectorMatcher = { empty: true, matches: () => true, text: '', weight: 0 }
const MAX_LENGTH = 64 * 1024
const shared = new Shared<LabelSelectorMatcher>()

/** @throws DecodeError with the token found and what was expected */
export function parseLabelSelector (text: string): LabelSelectorMatcher {
  if (text.length > MAX_LENGTH) throw new DecodeError(`the label selector is longer than ${MAX_LENGTH} characters`)
  if (text.trim() === '') return NO_LABELS
  const tests = [...distinct(new Parser(text).requirements())]
  return new Matcher(tests.map(requirement => new Test(requirement)))
}

const AS_OBJECTS: Readonly<Record<Operator, SelectorRequirement['operator'] | undefined>> = {
  in: 'In', '=': 'In', notin: 'NotIn', '!=': 'NotIn', exists: 'Exists', '!': 'DoesNotExist', '>': undefined,
  '<': undefined
}

/** As objects have it, by key; objects cannot compare numbers. @throws DecodeError as `parseLabelSelector` */
export function labelRequirements (text: string): SelectorRequirement[] {
  if (text.length > MAX_LENGTH) throw new DecodeError(`the label selector is longer than ${MAX_LENGTH} characters`)
  if (text.trim() === '') return []
  return [...new Parser(text).requirements()].flatMap(({ key, operator: sign, values }) => {
    const operator = AS_OBJECTS[sign]
    if (operator === undefined) return []
    return [{ key, operator, ...values.length === 0 ? {} : { values: [...new Set(values)].sort() } }]
  }).sort(({ key: one }, { key: other }) => one < other ? -1 : Number(one > other))
}

/** The selector for a watch to hold, shared with equal ones. @throws DecodeError if it is too large */
export const holdLabelSelector = (selector: LabelSelectorMatcher): LabelSelectorMatcher =>
  shared.one(selector, 'label selector')

/** Drops duplicate requirements, and merges the excluded values of each label. */
function * distinct (requirements: Iterable<Requirement>): Generator<Requirement> {
  const seen = new Set<string>()
  const excluded = new Map<string, Set<string>>()
  for (const requirement of requirements) {
    const { key, operator, values } = requirement
    if (operator === '!=' || operator === 'notin') {
      const all = excluded.get(key) ?? new Set<string>()
      for (const value of values) all.add(value)
      excluded.set(key, all)
      continue
    }
    const words = print(key, operator, [...new Set(values)])
    if (seen.has(words)) continue
    seen.add(words)
    yield requirement
  }
  for (const [key, values] of excluded) yield { key, operator: values.size === 1 ? '!=' : 'notin', values: [...values] }
}

class Matcher implements LabelSelectorMatcher {
  readonly empty = false
  readonly #tests: readonly Test[]

  constructor (tests: readonly Test[]) { this.#tests = tests }

  matches (labels: Labels = {}): boolean {
    for (const test of this.#tests) if (!test.holds(labels)) return false
    return true
  }

  get weight (): number { return this.#tests.reduce((sum, { weight }) => sum + weight, 0) }
  get text (): string { return this.#tests.map(test => test.text).sort().join(',') }
}

class Test {
  readonly #key: string
  readonly #operator: Operator
  readonly #values: Values

  constructor ({ key, operator, values }: Requirement) {
    this.#key = ownCopy(key)
    this.#operator = operator
    this.#values = new Values(values)
  }

  holds (labels: Labels): boolean {
    const key = this.#key
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined
    switch (this.#operator) {
      case '=': case 'in': return value !== undefined && this.#values.has(value)
      case '!=': case 'notin': return value === undefined || !this.#values.has(value)
      case 'exists': return value !== undefined
      case '!': return value === undefined
      default: {
        if (value === undefined || !isInteger(value)) return false
        const bound = BigInt(this.#values.all()[0] ?? '')
        return this.#operator === '>' ? BigInt(value) > bound : BigInt(value) < bound
      }
    }
  }

  get weight (): number { return REQUIREMENT_BYTES + this.#key.length + this.#values.weight }
  get text (): string { return print(this.#key, this.#operator, this.#values.all()) }
}

function print (key: string, operator: Operator, values: readonly string[]): string {
  switch (operator) {
    case 'exists': return key
    case '!': return `!${key}`
    case 'in': case 'notin': return `${key} ${operator} (${[...values].sort().join(',')})`
    default: return `${key}${operator}${values[0] ?? ''}`
  }
}

const INTEGER = /^-?\d+$/
/** A signed 64-bit integer. */
const isInteger = (text: string): boolean => INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
/* An operator, a bracket, or a run of other characters. */
const TOKEN = /\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+|$)/y
const UNABLE = 'unable to parse requirement: '
const SYMBOLS = new Set(['', '==', '!=', '=', '!', '(', ')', ',', '<', '>'])

class Parser {
  readonly #text: string
  #at = 0
  /** The next token, '' at the end. */
  #token = ''

  constructor (text: string) {
    this.#text = text.trimEnd()
    this.#next()
  }

  * requirements (): Generator<Requirement> {
    if (this.#startsNone()) this.#refuse("!, identifier, or 'end of string'", false)
    yield this.#requirement()
    while (this.#token === ',') {
      this.#next()
      if (this.#startsNone()) this.#refuse("identifier after ','", false)
      yield this.#requirement()
    }
    if (this.#token !== '') this.#refuse("',' or 'end of string'", false)
  }

  #startsNone (): boolean { return this.#token !== '!' && SYMBOLS.has(this.#token) }

  #next (): string {
    const current = this.#token
    TOKEN.lastIndex = this.#at
    this.#token = TOKEN.exec(this.#text)?.[1] ?? ''
    this.#at = TOKEN.lastIndex
    return current
  }

  /** @param within false outside of any requirement */
  #refuse (expected: string, within = true): never {
    throw new DecodeError(`${within ? UNABLE : ''}found '${excerpt(this.#token)}', expected: ${expected}`)
  }

  #requirement (): Requirement {
    const not = this.#token === '!'
    if (not) this.#next()
    if (SYMBOLS.has(this.#token)) this.#refuse('identifier')
    const key = this.#next()
    const why = qualifiedName(key)
    if (why.length > 0) throw new DecodeError(`${UNABLE}key: Invalid value: ${quoted(key)}: ${why.join('; ')}`)
    if (not) return { key, operator: '!', values: [] }
    switch (this.#token) {
      case '': case ',': return { key, operator: 'exists', values: [] }
      case '=': case '==': this.#next(); return { key, operator: '=', values: [this.#only(key)] }
      case '!=': this.#next(); return { key, operator: '!=', values: [this.#only(key)] }
      case '>': case '<': {
        const operator = this.#next() === '>' ? '>' : '<'
        const value = this.#only(key)
        if (!isInteger(value)) {
          throw new DecodeError(`${UNABLE}values[0]: Invalid value: ${quoted(value)}: for 'Gt', 'Lt' operators, the ` +
            'value must be an integer')
        }
        return { key, operator, values: [value] }
      }
      case 'in': case 'notin':
        return { key, operator: this.#next() === 'in' ? 'in' : 'notin', values: this.#values(key) }
      default: return this.#refuse('in, notin, =, ==, !=, gt, lt')
    }
  }

  #only (key: string): string {
    if (this.#token === ',' || this.#token === '') return ''
    if (SYMBOLS.has(this.#token)) this.#refuse('identifier')
    return checked(key, [this.#value(0)])[0] ?? ''
  }

  /** A comma or closing bracket means an empty value. */
  #value (index: number): string {
    if (this.#token === ',' || this.#token === ')') return ''
    if (SYMBOLS.has(this.#token)) this.#refuse(index === 0 ? "',', ')' or identifier" : "',', or identifier")
    return this.#next()
  }

  /** Empty brackets are one empty value. */
  #values (key: string): string[] {
    if (!this.#take('(')) this.#refuse("'('")
    const values = [this.#value(0)]
    while (this.#take(',')) values.push(this.#value(values.length))
    if (!this.#take(')')) this.#refuse("',' or ')'")
    return checked(key, values)
  }

  /** Consumes the token if it matches. */
  #take (token: string): boolean {
    const taken = this.#token === token
    if (taken) this.#next()
    return taken
  }
}

/** Validates label values. As upstream, all errors are reported, by ascending value. */
function checked (key: string, values: string[]): string[] {
  if (values.every(value => labelValue(value).length === 0)) return values
  const findings = [...new Set(values)].sort().flatMap((value, index) => {
    const why = labelValue(value)
    return why.length === 0 ? [] : [`values[${index}][${key}]: Invalid value: ${quoted(value)}: ${why.join('; ')}`]
  })
  throw new DecodeError(UNABLE + listed(findings.slice(0, MAX_FINDINGS)))
}

const MAX_FINDINGS = 20
