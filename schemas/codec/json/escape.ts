/** JSON text as upstream escapes it: beyond JSON's needs also `<`, `>`, `&`, U+2028 and U+2029. */
import { isAscending } from '../../sorted.js'
import { stringify } from './exact.js'

/* Strings without these need no escaping. Lone surrogates count, because they have no UTF-8 form. */
// eslint-disable-next-line no-control-regex
const SPECIAL = /["\\<>&\u0000-\u001f\u2028\u2029\ud800-\udfff]/
const MARKUP = /[<>&\u2028\u2029]/

export function quote (text: string): string {
  return SPECIAL.test(text) ? escapeMarkup(JSON.stringify(text)) : `"${text}"`
}

/** Escapes JSON text; these characters occur only within its strings. */
function escapeMarkup (json: string): string {
  if (!MARKUP.test(json)) return json
  return json.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026')
    .replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

/** JSON of any plain value, including bigints, in key order of the object. */
export function rawJson (value: unknown): string {
  const json = stringify(value)
  return json === undefined ? 'null' : escapeMarkup(json)
}

/** The same with all keys ascending. */
export function sortedJson (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? quote(value) : rawJson(value)
  return `{${sortedKeys(value)
    .map(name => `${quote(name)}:${sortedJson((value as Record<string, unknown>)[name])}`)
    .join(',')}}`
}

/** Ascending by code point, which is UTF-8 byte order. */
export function sortedKeys (map: object): string[] {
  const keys = Object.keys(map)
  if (keys.length < 2) return keys
  if (keys.some(key => SURROGATE.test(key))) return keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return isAscending(keys) ? keys : keys.sort()
}
const SURROGATE = /[\ud800-\udfff]/
