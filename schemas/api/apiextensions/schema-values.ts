/** Validates a value against a schema, with upstream's messages. Past a budget of steps, the rest counts as valid. */
import { stringify } from '../../codec/json/exact.js'
import type { Report } from '../../language/types.js'
import type { FieldError } from '../../status.js'
import { finish, type Steps } from '../../steps.js'
import type { Correlation } from './correlation.js'
import type { Expression } from './patterns.js'
import { STEP_OF_TEXT, equal, sizeOf, isNumber, type Amount } from './plain-values.js'
import { isSchema, type JSONSchemaProps as Schema } from './schemas.js'
import { hasFormat } from './rules/formats.js'
import { numberWords, rangeProblem, typeMismatch } from './rules/scalars.js'
import { isObject } from '../../language/values.js'
import { oncePer } from '../../once-per.js'

/** The budget: values times the schemas they are validated against. Long strings count for more. */
const MAX_STEPS = 20_000

/** Findings of a list or object, before the rest of it is skipped: callers show a hundred. */
const MAX_FOUND = 100
/** Steps between two yields: about a millisecond. */
const STEPS_PER_YIELD = 1000
/** Cost of matching a pattern that is a step. */
const MATCHED_PER_STEP = 20
/** Of matching all strings of an object. Seconds at worst, in steps. */
const MAX_MATCHED = 50_000_000

class TooLong extends Error {}

interface KnownPatterns { readonly of: (source: string, spent: (count: number) => void) => Expression }

type ValueFinding = FieldError & { readonly name: string }

/** The path of a finding; upstream writes `<nil>` for a whole object. */
const fieldAt = (at: string, name: string): string => at === '' ? name || '<nil>' : name === '' ? at : `${at}.${name}`

const amount = (value: Amount): string => String(value)

/** Texts are looked up: a type may name thousands, and an object hold thousands of them. */
const enumerated = oncePer((enumeration: readonly unknown[]): ReadonlySet<unknown> => new Set(enumeration))

const names = (enumeration: readonly unknown[], value: unknown): boolean => typeof value === 'string'
  ? enumerated(enumeration).has(value)
  : value !== null && enumeration.some(known => equal(known, value))

/** Where a value is, and what is found there. */
interface Place {
  readonly name: string
  readonly findings: ValueFinding[]
  readonly correlated: Correlation | undefined
}

export class ValueValidator {
  readonly #patterns: KnownPatterns
  readonly #most: number
  readonly #later: boolean
  #steps = 0
  #yielded = 0
  #matched = 0

  /**
   * @param ofObjects checks everything; by default values of a definition, within a number of steps
   * @param later checks what 1.36 does
   */
  constructor (patterns: KnownPatterns, ofObjects = false, later = false) {
    this.#patterns = patterns
    this.#later = later
    this.#most = ofObjects ? Infinity : MAX_STEPS
  }

  validate (schema: Schema, value: unknown, at: string, report: Report): void {
    finish(this.validating(schema, value, at, report))
  }

  /** @param correlated with which what is unchanged is valid */
  * validating (
    schema: Schema, value: unknown, at: string, report: Report, correlated?: Correlation
  ): Steps<void> {
    const reported = new Set<string>()
    let findings = yield * this.#findings(schema, value, '')
    // What is valid costs no comparison.
    if (findings.length > 0 && correlated !== undefined) {
      findings = yield * this.#findings(schema, value, '', correlated)
    }
    for (const { name, ...error } of findings) {
      const words = `${name} ${error.detail}`
      if (!reported.has(words)) report({ ...error, field: fieldAt(at, name.replace(/^\./, '')) })
      reported.add(words)
    }
  }

  /** @param name path within the value, which messages begin with */
  * #findings (schema: Schema, value: unknown, name: string, correlated?: Correlation): Steps<ValueFinding[]> {
    if (++this.#steps > this.#most) return []
    if (this.#isDue()) yield
    const findings: ValueFinding[] = []
    yield * this.#own(schema, value, name, findings)
    if (value !== null && hasLogic(schema)) yield * this.#logic(schema, value, name, findings)
    if (Array.isArray(value)) yield * this.#list(schema, value, { name, findings, correlated })
    else if (isObject(value)) yield * this.#object(schema, value, { name, findings, correlated })
    return findings.length > 0 && correlated?.isSame === true ? [] : findings
  }

  /** Types, formats, bounds and enumerations. */
  * #own (schema: Schema, value: unknown, name: string, findings: ValueFinding[]): Steps<void> {
    const said = (words: string): void => { this.#say(findings, name, `${name} in body ${words}`, value) }
    const mismatch = typeMismatch(schema, value, this.#most === Infinity)
    if (mismatch !== undefined) {
      this.#say(
        findings, name, `${name} in body must be of type ${mismatch.wanted}: "${mismatch.own}"`, mismatch.own,
        'FieldValueTypeInvalid'
      )
    }
    if (typeof value === 'string') yield * this.#text(schema, value, name, findings, said)
    if (isNumber(value)) {
      const problem = this.#later ? rangeProblem(schema, value) : undefined
      // As upstream, the root is blamed.
      if (problem !== undefined) this.#say(findings, '', problem, '')
      numberWords(schema, value).forEach(said)
    }
    this.#steps += schema.enum?.length ?? 0
    if (schema.enum !== undefined && schema.enum.length > 0 && !names(schema.enum, value)) {
      const known = schema.enum
        .map(allowed => JSON.stringify(typeof allowed === 'string' ? allowed : stringify(allowed) ?? 'null'))
      this.#say(findings, name, `supported values: ${known.join(', ')}`, value, 'FieldValueNotSupported')
    }
  }

  #say (
    findings: ValueFinding[], name: string, detail: string, value: unknown,
    type: FieldError['type'] = 'FieldValueInvalid'
  ): void {
    if (findings.length > 0 && this.#steps > this.#most) return
    this.#steps += sizeOf(value, this.#most)
    findings.push({ name, field: '', type, value, detail })
  }

  * #text (
    { maxLength, minLength, pattern = '', format = '' }: Schema, value: string, name: string, findings: ValueFinding[],
    said: (words: string) => void
  ): Steps<void> {
    this.#steps += value.length / STEP_OF_TEXT
    const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length
    if (maxLength !== undefined &&
      length > maxLength) {
      const words = this.#later
        ? `may not be more than ${amount(maxLength)} character${maxLength === 1 ? '' : 's'}`
        : `may not be longer than ${amount(maxLength)}`
      this.#say(findings, name, words, value, 'FieldValueTooLong')
    } else if (minLength !== undefined && length < minLength) said(`should be at least ${amount(minLength)} chars long`)
    else if (pattern !== '') {
      const isMatch = yield * this.#matches(pattern, value)
      if (isMatch === undefined) said(`is too long to be matched with '${pattern}'`)
      else if (!isMatch) said(`should match '${pattern}'`)
    }
    if (!hasFormat(format, value, this.#later)) {
      this.#say(
        findings, name, `${name} in body must be of type ${format}: ${JSON.stringify(value)}`, value,
        'FieldValueTypeInvalid'
      )
    }
  }

  /** Undefined if finding out would take too long. */
  * #matches (pattern: string, text: string): Steps<boolean | undefined> {
    const spent = (count: number): void => {
      this.#steps += count / MATCHED_PER_STEP
      this.#matched += count
      if (this.#matched > MAX_MATCHED) throw new TooLong()
    }
    try {
      const { isTooLarge, matches } = this.#patterns.of(pattern, spent)
      if (isTooLarge === true) return undefined
      return yield * matches(text, count => {
        spent(count)
        return this.#isDue()
      })
    } catch (error) {
      if (error instanceof TooLong) return undefined
      throw error
    }
  }

  /** Whether other work is due. */
  #isDue (): boolean {
    if (this.#steps - this.#yielded <= STEPS_PER_YIELD) return false
    this.#yielded = this.#steps
    return true
  }

  * #list (
    { items, minItems, maxItems }: Schema, value: readonly unknown[], { name, findings, correlated }: Place
  ): Steps<void> {
    if (isSchema(items) && this.#steps < this.#most) {
      for (const [index, item] of value.entries()) {
        if (findings.length >= MAX_FOUND) break
        findings.push(...yield * this.#findings(items, item, `${name}[${index}]`, correlated?.item(index)))
      }
    }
    if (minItems !== undefined && value.length < minItems) {
      this.#say(findings, name, `${name} in body should have at least ${amount(minItems)} items`, value.length)
    }
    if (maxItems !== undefined && value.length > maxItems) {
      this.#say(findings, name, `must have at most ${amount(maxItems)} items`, value.length, 'FieldValueTooMany')
    }
  }

  * #object (
    schema: Schema, value: Readonly<Record<string, unknown>>, { name, findings, correlated }: Place
  ): Steps<void> {
    const { properties = {}, additionalProperties, required = [], minProperties, maxProperties } = schema
    const members = Object.entries(value)
    this.#steps += members.length + required.length
    if (this.#steps > this.#most) return
    const below = (member: string): string => name === '' ? member : `${name}.${member}`
    if (minProperties !== undefined && members.length < minProperties) {
      return this.#say(
        findings, name, `${name} in body should have at least ${amount(minProperties)} properties`, members.length
      )
    }
    if (maxProperties !== undefined && members.length > maxProperties) {
      return this.#say(
        findings, name, `must have at most ${amount(maxProperties)} items`, members.length, 'FieldValueTooMany'
      )
    }
    for (const [member, item] of members) {
      if (findings.length >= MAX_FOUND) break
      if (Object.hasOwn(properties, member)) continue
      if (isSchema(additionalProperties)) {
        const inner = correlated?.member(member)
        findings.push(...yield * this.#findings(additionalProperties, item, `${name}.${member}`, inner))
      } else if (additionalProperties === false) {
        this.#say(findings, name, `${name}.${member} in body is a forbidden property`, member)
      }
    }
    for (const [member, item] of members) {
      const part = Object.hasOwn(properties, member) ? properties[member] : undefined
      if (part === undefined) continue
      findings.push(...yield * this.#findings(part, item, below(member), correlated?.member(member)))
    }
    for (const member of required) {
      if (!Object.hasOwn(value, member)) {
        findings.push({ name: `${name}.${member}`, field: '', type: 'FieldValueRequired', detail: '' })
      }
    }
  }

  * #each (parts: readonly Schema[], value: unknown, name: string): Steps<ValueFinding[][]> {
    const all: ValueFinding[][] = []
    for (const part of parts) all.push(yield * this.#findings(part, value, name))
    return all
  }

  * #logic (
    { anyOf = [], oneOf = [], allOf = [], not }: Schema, value: unknown, name: string, findings: ValueFinding[]
  ): Steps<void> {
    const quoted = JSON.stringify(name)
    const whole = (words: string): void => {
      findings.push({ name: '', field: '', type: 'FieldValueInvalid', value: '', detail: `${quoted} must ${words}` })
    }
    const right = (all: ValueFinding[][]): number => all.filter(({ length }) => length === 0).length
    const [any, one, all] = [
      yield * this.#each(anyOf, value, name), yield * this.#each(oneOf, value, name),
      yield * this.#each(allOf, value, name)
    ]
    if (any.length > 0 &&
      right(any) === 0) { whole('validate at least one schema (anyOf)'); findings.push(...any[0] ?? []) }
    if (one.length > 0 && right(one) !== 1) {
      whole('validate one and only one schema (oneOf). Found ' +
        `${right(one) === 0 ? 'none valid' : `${right(one)} valid alternatives`}`)
      if (right(one) === 0) findings.push(...one[0] ?? [])
    }
    findings.push(...all.flat())
    if (right(all) < all.length) whole(`validate all the schemas (allOf)${right(all) === 0 ? '. None validated' : ''}`)
    if (not !== undefined && (yield * this.#findings(not, value, name)).length === 0) {
      whole('not validate the schema (not)')
    }
  }
}

const hasLogic = ({ anyOf, oneOf, allOf, not }: Schema): boolean => anyOf !== undefined || oneOf !== undefined ||
  allOf !== undefined || not !== undefined
