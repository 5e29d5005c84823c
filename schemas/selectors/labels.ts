/**
 * Label selectors as text: `app=web,tier in (front, back),!old,replicas>3`. Every requirement must hold; `!=` and notin
 * hold for objects without the label too. What is bad in the text is a DecodeError.
 */
import { DecodeError } from '../decode-error.js'
import { labelValue, qualifiedName } from '../names.js'

export type Labels = Readonly<Record<string, string>>

/** Objects to look at: all, or those that match. */
export interface Selector<T> {
  /** Matches everything. */
  readonly empty: boolean
  readonly matches: (subject: T) => boolean
  /** The same selector always in the same words. */
  readonly text: string
}
export type LabelSelectorMatcher = Selector<Labels | undefined>

type Operator = 'in' | 'notin' | '=' | '!=' | 'exists' | '!' | '>' | '<'

interface Requirement {
  readonly key: string
  readonly operator: Operator
  readonly values: readonly string[]
}

/** Selects everything. */
export const NO_LABELS: LabelSelectorMatcher = { empty: true, matches: () => true, text: '' }
const MAX_LENGTH = 64 * 1024

/** @throws DecodeError that says what was found where something else was expected */
export function parseLabelSelector (text: string): LabelSelectorMatcher {
  if (text.length > MAX_LENGTH) throw new DecodeError(`the label selector is longer than ${MAX_LENGTH} characters`)
  if (text.trim() === '') return NO_LABELS
  const requirements = new Parser(text).requirements()
  const tests = requirements.map(test)
  return {
    empty: false,
    matches: (labels = {}) => tests.every(holds => holds(labels)),
    text: requirements.map(print).sort().join(',')
  }
}

const valueOf = (labels: Labels, key: string): string | undefined => Object.hasOwn(labels, key) ? labels[key] : undefined

function test ({ key, operator, values }: Requirement): (labels: Labels) => boolean {
  const [first = ''] = values
  switch (operator) {
    case '=': return labels => valueOf(labels, key) === first
    case '!=': return labels => valueOf(labels, key) !== first
    case 'exists': return labels => Object.hasOwn(labels, key)
    case '!': return labels => !Object.hasOwn(labels, key)
    case 'in': case 'notin': {
      const set = new Set(values)
      const wanted = operator === 'in'
      return labels => {
        const value = valueOf(labels, key)
        return (value !== undefined && set.has(value)) === wanted
      }
    }
    default: {
      const bound = BigInt(first)
      return labels => {
        const value = valueOf(labels, key)
        if (value === undefined || !INTEGER.test(value)) return false
        return operator === '>' ? BigInt(value) > bound : BigInt(value) < bound
      }
    }
  }
}

function print ({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'exists': return key
    case '!': return `!${key}`
    case 'in': case 'notin': return `${key} ${operator} (${[...values].sort().join(',')})`
    default: return `${key}${operator}${values[0] ?? ''}`
  }
}

const INTEGER = /^-?\d+$/
/* An operator or bracket, or a run of anything else. */
const TOKEN = /\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+|$)/y
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

  requirements (): Requirement[] {
    const found = [this.#requirement()]
    while (this.#token === ',') {
      this.#next()
      found.push(this.#requirement())
    }
    if (this.#token !== '') this.#refuse("',' or the end")
    return found
  }

  #next (): string {
    const current = this.#token
    TOKEN.lastIndex = this.#at
    this.#token = TOKEN.exec(this.#text)?.[1] ?? ''
    this.#at = TOKEN.lastIndex
    return current
  }

  #refuse (expected: string): never {
    throw new DecodeError(`the label selector ${shown(this.#text)} can't be parsed: found ${this.#token === '' ? 'its end' : shown(this.#token)}, expected ${expected}`)
  }

  #requirement (): Requirement {
    const not = this.#token === '!'
    if (not) this.#next()
    if (SYMBOLS.has(this.#token)) this.#refuse('a label key')
    const key = this.#next()
    const why = qualifiedName(key)
    if (why !== undefined) throw new DecodeError(`the label selector has the key ${shown(key)}, which is invalid: ${why}`)
    if (not) return this.#token === ',' || this.#token === '' ? { key, operator: '!', values: [] } : this.#refuse("',' or the end")
    switch (this.#token) {
      case '': case ',': return { key, operator: 'exists', values: [] }
      case '=': case '==': this.#next(); return { key, operator: '=', values: [this.#value()] }
      case '!=': this.#next(); return { key, operator: '!=', values: [this.#value()] }
      case '>': case '<': {
        const operator = this.#next() === '>' ? '>' : '<'
        const value = this.#value()
        if (!INTEGER.test(value)) throw new DecodeError(`the label selector compares ${shown(key)} with ${shown(value)}, which is no integer`)
        return { key, operator, values: [value] }
      }
      case 'in': case 'notin': return { key, operator: this.#next() === 'in' ? 'in' : 'notin', values: this.#values(key) }
      default: return this.#refuse("'=', '==', '!=', 'in', 'notin', '<', '>', ',' or the end")
    }
  }

  /** A value may be empty, which is when the requirement ends at once. */
  #value (): string {
    if (this.#token === ',' || this.#token === ')' || this.#token === '') return ''
    if (SYMBOLS.has(this.#token)) this.#refuse('a label value')
    const value = this.#next()
    const why = labelValue(value)
    if (why !== undefined) throw new DecodeError(`the label selector has the value ${shown(value)}, which is invalid: ${why}`)
    return value
  }

  #values (key: string): string[] {
    if (!this.#take('(')) this.#refuse("'('")
    if (this.#take(')')) throw new DecodeError(`the label selector has no values for ${shown(key)}; 'in' and 'notin' need at least one`)
    const values = [this.#value()]
    while (this.#take(',')) values.push(this.#value())
    if (!this.#take(')')) this.#refuse("',' or ')'")
    return values
  }

  /** Steps over the token if it is that one. */
  #take (token: string): boolean {
    const taken = this.#token === token
    if (taken) this.#next()
    return taken
  }
}

const shown = (text: string) => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
