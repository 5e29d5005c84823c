/**
 * Field selectors: `metadata.name=a,status.phase!=Active`. The resource declares its selectable fields. A backslash
 * escapes `\`, `,` and `=`. Errors are DecodeErrors.
 */
import { DecodeError } from '../language/decode-error.js'
import type { ApiObject } from '../meta/api-object.js'
import { NO_FIELD, type Representation, type ResourceType } from '../resource.js'
import { ownCopy, REQUIREMENT_BYTES, Shared, Values } from './held.js'
import type { Selector } from './labels.js'
import type { SelectorRequirement } from './requirement.js'
import { excerpt, quoted } from './excerpt.js'
import { oncePer } from '../once-per.js'

/** Values of a type's selectable fields: name, namespace, then the declared ones in order. */
export type FieldValues = readonly string[]

export interface FieldSelectorMatcher extends Selector<FieldValues> {
  /** Fields that must equal one value. With metadata.name, a get can replace the list. */
  readonly exact: ReadonlyMap<string, string>
  /** The same by the place of the field. */
  readonly required: ReadonlyArray<{ readonly at: number, readonly value: string }>
}

interface Term { readonly field: string, readonly equal: boolean, readonly value: string }

/** Selects everything. */
export const NO_FIELDS: FieldSelectorMatcher = {
  empty: true, matches: () => true, text: '', weight: 0, exact: new Map(), required: []
}
const MAX_LENGTH = 64 * 1024

/** By type, because the type determines the positions of field values. */
const sharedOf = oncePer((_type: Representation) => new Shared<FieldSelectorMatcher>())

/** @throws DecodeError for bad syntax and for fields that are not selectable */
export function parseFieldSelector (text: string, resource: Representation): FieldSelectorMatcher {
  if (text.length > MAX_LENGTH) throw new DecodeError(`the field selector is longer than ${MAX_LENGTH} characters`)
  const fields = new Map<string, { readonly at: number, readonly is: Set<string>, readonly not: Set<string> }>()
  for (const part of splitTerms(text)) {
    if (part === '') continue
    const { field, equal, value } = parseTerm(part, text)
    let wanted = fields.get(field)
    if (wanted ===
      undefined) fields.set(field, wanted = { at: placeOf(field, resource), is: new Set(), not: new Set() })
    ;(equal ? wanted.is : wanted.not).add(value)
  }
  if (fields.size === 0) return NO_FIELDS
  return new Matcher([...fields]
    .map(([field, { at, is, not }]) => ({ field: ownCopy(field), at, is: new Values(is), not: new Values(not) })))
}

/** The terms of a selector of any type, whose fields need not exist. @throws DecodeError for bad syntax */
export function fieldRequirements (text: string): SelectorRequirement[] {
  if (text.length > MAX_LENGTH) throw new DecodeError(`the field selector is longer than ${MAX_LENGTH} characters`)
  return splitTerms(text).filter(part => part !== '').map(part => {
    const { field: key, equal, value } = parseTerm(part, text)
    return { key, operator: equal ? 'In' : 'NotIn', values: [value] }
  })
}

/** The name that a selector requires; undefined if none, or if the selector is malformed. */
export function nameSelected (text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined
  try {
    for (const part of splitTerms(text)) {
      if (part === '') continue
      const { field, equal, value } = parseTerm(part, text)
      if (field === 'metadata.name' && equal) return value
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
  }
  return undefined
}

/** `holdLabelSelector` for field selectors of one type. */
export const holdFieldSelector = (selector: FieldSelectorMatcher, resource: Representation): FieldSelectorMatcher =>
  sharedOf(resource).one(selector, 'field selector')

interface Wanted {
  readonly field: string
  readonly at: number
  /** Required values; two different ones match nothing. */
  readonly is: Values
  readonly not: Values
}

class Matcher implements FieldSelectorMatcher {
  readonly empty = false
  readonly exact: ReadonlyMap<string, string>
  readonly #fields: readonly Wanted[]

  constructor (fields: readonly Wanted[]) {
    this.#fields = fields
    this.exact = new Map(fields.flatMap(({ field, is }) => is.all().slice(-1).map(value => [field, value])))
  }

  matches (values: FieldValues): boolean {
    for (const { at, is, not } of this.#fields) {
      const value = values[at] ?? ''
      if (is.size > 1 || (is.size === 1 && !is.has(value)) || not.has(value)) return false
    }
    return true
  }

  get required (): FieldSelectorMatcher['required'] {
    return this.#fields.flatMap(({ at, is }) => is.all().map(value => ({ at, value })))
  }

  get weight (): number {
    return this.#fields
      .reduce((sum, { field, is, not }) => sum + REQUIREMENT_BYTES + field.length + is.weight * 2 + not.weight, 0)
  }

  get text (): string {
    const printed = (field: string, operator: string, values: Values) =>
      values.all().map(value => `${field}${operator}${value.replace(/[\\,=]/g, '\\$&')}`)
    return this.#fields
      .flatMap(({ field, is, not }) => [...printed(field, '=', is), ...printed(field, '!=', not)]).sort().join(',')
  }
}

/** The values of an object's selectable fields. They are cached beside each object, so matching parses nothing. */
export function fieldValues (
  { type: { fieldReaders } }: { readonly type: Pick<ResourceType, 'fieldReaders'> }, object: ApiObject
): FieldValues {
  const { name = '', namespace = '' } = object.metadata
  return fieldReaders.length === 0
    ? [name, namespace]
    : [name, namespace, ...fieldReaders.map(read => read(object))]
}

/** The position of a field that is always ''. */
const NOWHERE = -1
const NAME = 0
const NAMESPACE = 1
const DECLARED = 2

/** The place of a field among the values of a type. @throws DecodeError if it is not selectable */
export function placeOf (
  field: string, { selectableFields, unsupportedField, namespaced, type }: Representation
): number {
  const read = selectableFields !== undefined && Object.hasOwn(selectableFields, field)
    ? selectableFields[field]
    : undefined
  if (read === NO_FIELD) return NOWHERE
  const declared = read === undefined ? -1 : type.fieldReaders.indexOf(read)
  if (declared >= 0) return DECLARED + declared
  if (field === 'metadata.name') return NAME
  // Upstream: cluster-scoped types with fields of their own do not support metadata.namespace; for others it is empty.
  if (field === 'metadata.namespace' && (namespaced || selectableFields === undefined)) return NAMESPACE
  if (unsupportedField !== undefined) throw new DecodeError(unsupportedField(field.slice(0, 200)))
  throw new DecodeError(selectableFields === undefined
    ? `${quoted(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
    : `field label not supported: ${field.slice(0, 200)}`)
}

/** Splits at unescaped commas. */
function splitTerms (text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === ',') {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function parseTerm (term: string, whole: string): Term {
  const match = /^((?:[^\\=!]|\\.|!(?!=))*?)(!=|==?)(.*)$/s.exec(term)
  if (match === null) {
    throw new DecodeError(`invalid selector: '${excerpt(whole)}'; can't understand '${excerpt(term)}'`)
  }
  const [, field = '', operator, value = ''] = match
  return { field, equal: operator !== '!=', value: unescape(value, whole) }
}

function unescape (value: string, whole: string): string {
  let out = ''
  for (let at = 0; at < value.length; at++) {
    const character = value[at] ?? ''
    if (character === '\\') {
      const next = value[++at] ?? ''
      if (next === '' || !'\\,='.includes(next)) {
        throw new DecodeError(`invalid field selector: invalid escape sequence: \\${next}`)
      }
      out += next
    } else if (character === '=') {
      // upstream prints the code of `=`
      throw new DecodeError('invalid field selector: unescaped character in value: 61')
    } else if (character ===
      '\0') {
      throw new DecodeError(
        `the field selector ${quoted(whole)} has the character NUL in a value; no field has it`
      )
    } else out += character
  }
  return out
}
