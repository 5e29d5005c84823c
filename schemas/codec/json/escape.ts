/** JSON text as the wire has it: quotes, control characters, and beyond JSON's needs `<`, `>`, `&`, U+2028, U+2029. */
import { isAscending } from '../../sorted.js'
import { stringify } from './exact.js'

/* A string without any of these stands between its quotes as it is. Lone surrogates are among them: they have no UTF-8. */
// eslint-disable-next-line no-control-regex
const SPECIAL = /["\\<>&\u0000-\u001f\u2028\u2029\ud800-\udfff]/
const MARKUP = /[<>&\u2028\u2029]/

export function quote (text: string): string {
  return SPECIAL.test(text) ? escapeMarkup(JSON.stringify(text)) : `"${text}"`
}

/** Of JSON text; outside of strings none of these characters occurs. */
function escapeMarkup (json: string): string {
  if (!MARKUP.test(json)) return json
  return json.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026')
    .replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

/** Any plain value, bigints too, with its keys in the order they have. */
export function rawJson (value: unknown): string {
  const json = stringify(value)
  return json === undefined ? 'null' : escapeMarkup(json)
}

/** The same with the names of all objects ascending. */
export function sortedJson (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? quote(value) : rawJson(value)
  return `{${sortedKeys(value).map(name => `${quote(name)}:${sortedJson((value as Record<string, unknown>)[name])}`).join(',')}}`
}

/** Ascending by code point, which is the order of their UTF-8 bytes. */
export function sortedKeys (map: object): string[] {
  const keys = Object.keys(map)
  if (keys.length < 2) return keys
  if (keys.some(key => SURROGATE.test(key))) return keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return isAscending(keys) ? keys : keys.sort()
}
const SURROGATE = /[\ud800-\udfff]/
