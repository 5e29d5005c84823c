/** Validates a value against a schema, with upstream's messages. Past a budget of steps, the rest counts as valid. */
import { stringify } from '../../codec/json/exact.js'
import type { FieldError } from '../../status.js'
import type { Patterns } from './patterns.js'
import { isObject, STEP_OF_TEXT, equal, sizeOf, isNumber, type Amount } from './plain-values.js'
import { isSchema, type JSONSchemaProps as Schema } from './schemas.js'
import { hasFormat, numberWords, typeMismatch } from './rules/scalars.js'

/** The budget: values times the schemas they are validated against. Long strings count for more. */
const MAX_STEPS = 20_000

type Found = FieldError & { readonly name: string }

/** The path of a finding; upstream writes `<nil>` for a whole object. */
const fieldAt = (at: string, name: string): string => at === '' ? name || '<nil>' : name === '' ? at : `${at}.${name}`

const amount = (value: Amount): string => String(value)

export class ValueJudge {
  readonly #patterns: Patterns
  readonly #most: number
  #steps = 0

  /** @param ofObjects judges everything; by default values of a definition, within a number of steps */
  constructor (patterns: Patterns, ofObjects = false) {
    this.#patterns = patterns
    this.#most = ofObjects ? Infinity : MAX_STEPS
  }

  validate (schema: Schema, value: unknown, at: string, report: (error: FieldError) => void): void {
    const told = new Set<string>()
    for (const { name, ...error } of this.#judge(schema, value, '')) {
      const words = `${name} ${error.detail}`
      if (!told.has(words)) report({ ...error, field: fieldAt(at, name.replace(/^\./, '')) })
      told.add(words)
    }
  }

  /** @param name path within the value, which messages begin with */
  #judge (schema: Schema, value: unknown, name: string): Found[] {
    if (++this.#steps > this.#most) return []
    const found: Found[] = []
    const say: Say = (detail, shown = value, type = 'FieldValueInvalid') => {
      if (found.length > 0 && this.#steps > this.#most) return
      this.#steps += sizeOf(shown, this.#most)
      found.push({ name, field: '', type, value: shown, detail })
    }
    const said = (words: string): void => { say(`${name} in body ${words}`) }
    const mismatch = typeMismatch(schema, value, this.#most === Infinity)
    if (mismatch !== undefined) say(`${name} in body must be of type ${mismatch.wanted}: "${mismatch.own}"`, mismatch.own, 'FieldValueTypeInvalid')
    if (value !== null) {
      this.#logic(schema, value, name, found, say)
      if (typeof value === 'string') this.#text(schema, value, name, said, say)
      if (isNumber(value)) numberWords(schema, value).forEach(said)
      if (Array.isArray(value)) this.#list(schema, value, name, found, say)
    }
    this.#steps += schema.enum?.length ?? 0
    if (schema.enum !== undefined && schema.enum.length > 0 && (value === null || !schema.enum.some(known => equal(known, value)))) {
      const known = schema.enum.map(one => JSON.stringify(typeof one === 'string' ? one : stringify(one) ?? 'null'))
      say(`supported values: ${known.join(', ')}`, value, 'FieldValueNotSupported')
    }
    if (isObject(value)) this.#object(schema, value, name, found, say)
    return found
  }

  #text ({ maxLength, minLength, pattern = '', format = '' }: Schema, value: string, name: string, said: (words: string) => void, say: Say): void {
    this.#steps += value.length / STEP_OF_TEXT
    const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length
    if (maxLength !== undefined && length > maxLength) say(`may not be longer than ${amount(maxLength)}`, value, 'FieldValueTooLong')
    else if (minLength !== undefined && length < minLength) said(`should be at least ${amount(minLength)} chars long`)
    else if (pattern !== '' && !this.#patterns.of(pattern).matches(value)) said(`should match '${pattern}'`)
    if (!hasFormat(format, value)) say(`${name} in body must be of type ${format}: ${JSON.stringify(value)}`, value, 'FieldValueTypeInvalid')
  }

  #list ({ items, minItems, maxItems }: Schema, value: readonly unknown[], name: string, found: Found[], say: Say): void {
    if (isSchema(items) && this.#steps < this.#most) for (const [index, item] of value.entries()) found.push(...this.#judge(items, item, `${name}[${index}]`))
    if (minItems !== undefined && value.length < minItems) say(`${name} in body should have at least ${amount(minItems)} items`, value.length)
    if (maxItems !== undefined && value.length > maxItems) say(`must have at most ${amount(maxItems)} items`, value.length, 'FieldValueTooMany')
  }

  #object (schema: Schema, value: Readonly<Record<string, unknown>>, name: string, found: Found[], say: Say): void {
    const { properties = {}, additionalProperties, required = [], minProperties, maxProperties } = schema
    const members = Object.entries(value)
    this.#steps += members.length + required.length
    if (this.#steps > this.#most) return
    const below = (member: string): string => name === '' ? member : `${name}.${member}`
    if (minProperties !== undefined && members.length < minProperties) {
      return say(`${name} in body should have at least ${amount(minProperties)} properties`, members.length)
    }
    if (maxProperties !== undefined && members.length > maxProperties) {
      return say(`must have at most ${amount(maxProperties)} items`, members.length, 'FieldValueTooMany')
    }
    for (const [member, item] of members) {
      if (Object.hasOwn(properties, member)) continue
      if (isSchema(additionalProperties)) found.push(...this.#judge(additionalProperties, item, `${name}.${member}`))
      else if (additionalProperties === false) say(`${name}.${member} in body is a forbidden property`, member)
    }
    for (const [member, item] of members) {
      const part = Object.hasOwn(properties, member) ? properties[member] : undefined
      if (part !== undefined) found.push(...this.#judge(part, item, below(member)))
    }
    for (const member of required) {
      if (!Object.hasOwn(value, member)) found.push({ name: `${name}.${member}`, field: '', type: 'FieldValueRequired', detail: '' })
    }
  }

  #logic ({ anyOf = [], oneOf = [], allOf = [], not }: Schema, value: unknown, name: string, found: Found[], say: Say): void {
    const quoted = JSON.stringify(name)
    const each = (parts: readonly Schema[]): Found[][] => parts.map(part => this.#judge(part, value, name))
    const whole = (words: string): void => { found.push({ name: '', field: '', type: 'FieldValueInvalid', value: '', detail: `${quoted} must ${words}` }) }
    const right = (all: Found[][]): number => all.filter(({ length }) => length === 0).length
    const [any, one, all] = [each(anyOf), each(oneOf), each(allOf)]
    if (any.length > 0 && right(any) === 0) { whole('validate at least one schema (anyOf)'); found.push(...any[0] ?? []) }
    if (one.length > 0 && right(one) !== 1) {
      whole(`validate one and only one schema (oneOf). Found ${right(one) === 0 ? 'none valid' : `${right(one)} valid alternatives`}`)
      if (right(one) === 0) found.push(...one[0] ?? [])
    }
    found.push(...all.flat())
    if (right(all) < all.length) whole(`validate all the schemas (allOf)${right(all) === 0 ? '. None validated' : ''}`)
    if (not !== undefined && this.#judge(not, value, name).length === 0) whole('not validate the schema (not)')
  }
}

type Say = (detail: string, shown?: unknown, type?: FieldError['type']) => void
