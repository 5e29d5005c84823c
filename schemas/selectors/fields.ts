/**
 * Field selectors as text: `metadata.name=a,status.phase!=Active`. Which fields a type offers stands in its resource; a backslash
 * before `\`, `,` and `=` takes their meaning away. What is bad in the text is a DecodeError.
 */
import { DecodeError } from '../decode-error.js'
import type { ApiObject, ResourceDefinition } from '../resource.js'
import type { Selector } from './labels.js'

/** Values of the fields a type can be selected by: the name, the namespace, then those it declares, in their order. */
export type FieldValues = readonly string[]

export interface FieldSelectorMatcher extends Selector<FieldValues> {
  /** Fields that must equal one value, by name: with metadata.name one object can be read instead of a list. */
  readonly exact: ReadonlyMap<string, string>
}

interface Term { readonly field: string, readonly equal: boolean, readonly value: string }

/** Selects everything. */
export const NO_FIELDS: FieldSelectorMatcher = { empty: true, matches: () => true, text: '', exact: new Map() }
const MAX_LENGTH = 64 * 1024

/** @throws DecodeError for bad syntax and for fields the type can't be selected by */
export function parseFieldSelector (text: string, resource: ResourceDefinition): FieldSelectorMatcher {
  if (text.length > MAX_LENGTH) throw new DecodeError(`the field selector is longer than ${MAX_LENGTH} characters`)
  const terms = splitTerms(text).filter(part => part !== '').map(part => parseTerm(part, text))
  if (terms.length === 0) return NO_FIELDS
  const tests = terms.map(({ field, equal, value }) => {
    const at = indexOf(field, resource)
    return (values: FieldValues) => (values[at] === value) === equal
  })
  return {
    empty: false,
    matches: values => tests.every(holds => holds(values)),
    text: terms.map(({ field, equal, value }) => `${field}${equal ? '=' : '!='}${value.replace(/[\\,=]/g, '\\$&')}`).sort().join(','),
    exact: new Map(terms.filter(term => term.equal).map(term => [term.field, term.value]))
  }
}

/** What of an object its type can be selected by. Kept beside each object, so that selecting parses nothing. */
export function fieldValues ({ selectableFields }: ResourceDefinition, object: ApiObject): FieldValues {
  const { name = '', namespace = '' } = object.metadata
  return selectableFields === undefined ? [name, namespace] : [name, namespace, ...Object.values(selectableFields).map(read => read(object))]
}

const NAME = 0
const NAMESPACE = 1
const DECLARED = 2

function indexOf (field: string, { selectableFields, namespaced }: ResourceDefinition): number {
  const declared = selectableFields === undefined ? -1 : Object.keys(selectableFields).indexOf(field)
  if (declared >= 0) return DECLARED + declared
  if (field === 'metadata.name') return NAME
  // Types of the whole cluster that declare fields of their own do not know the namespace; the others find it empty.
  if (field === 'metadata.namespace' && (namespaced || selectableFields === undefined)) return NAMESPACE
  throw new DecodeError(selectableFields === undefined
    ? `${shown(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
    : `field label not supported: ${field.slice(0, 200)}`)
}

/** At commas without a backslash before them. */
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
  if (match === null) throw new DecodeError(`the field selector ${shown(whole)} can't be parsed: ${shown(term)} is no FIELD=VALUE, FIELD==VALUE or FIELD!=VALUE`)
  const [, field = '', operator, value = ''] = match
  return { field: field.trim(), equal: operator !== '!=', value: unescape(value, whole) }
}

function unescape (value: string, whole: string): string {
  let out = ''
  for (let at = 0; at < value.length; at++) {
    const character = value[at] ?? ''
    if (character === '\\') {
      const next = value[++at] ?? ''
      if (next === '' || !'\\,='.includes(next)) throw new DecodeError(`the field selector ${shown(whole)} has a backslash before something other than \\, comma or =`)
      out += next
    } else if (character === '=') {
      throw new DecodeError(`the field selector ${shown(whole)} has an = in a value without a backslash before it`)
    } else out += character
  }
  return out
}

const shown = (text: string) => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
