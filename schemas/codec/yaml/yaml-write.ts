/**
 * Writes block-style YAML. Responses may have megabytes, and the library needs a second for each. Text that any YAML
 * version would resolve to another type is quoted as in JSON.
 */

const MAX_PLAIN = 500
/** Longer keys need the `? key` form. */
const MAX_KEY = 1000
const PLAIN = /^[A-Za-z_/][\w./@-]*(?:[ :][\w./@-]+)*$/
/** Booleans, numbers and null in any YAML version. */
const TAKEN = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i
/** Characters to escape besides those that JSON escapes. */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g
// eslint-disable-next-line no-control-regex -- matches control characters
const NO_LITERAL = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|^[ \n]|\n\n$|^[-.]{3}/

/** One document, ending with a line break. */
export function toYaml (value: unknown): string {
  return isBlock(value) ? block(value, '', '') : `${scalar(value)}\n`
}

type Collection = Record<string, unknown> | readonly unknown[]

function isBlock (value: unknown): value is Collection {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length > 0
  for (const key in value) if ((value as Record<string, unknown>)[key] !== undefined) return true
  return false
}

/** The lines of a collection: the first starts with `first`, the others with `indent`. */
function block (value: Collection, indent: string, first: string): string {
  let out = ''
  let begin = first
  const deeper = `${indent}  `
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      out += isBlock(item) ? block(item, deeper, `${begin}- `) : `${begin}- ${text(item, deeper)}\n`
      begin = indent
    }
    return out
  }
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    const name = quoted(key)
    out += name.length > MAX_KEY ? `${begin}? ${name}\n${indent}:` : `${begin}${name}:`
    out += isBlock(member)
      ? `\n${block(member, ...(Array.isArray(member) ? [indent, indent] as const : [deeper, deeper] as const))}`
      : ` ${text(member, deeper)}\n`
    begin = indent
  }
  return out
}

/** A literal block scalar if it preserves the text, otherwise quoted. */
function text (value: unknown, indent: string): string {
  if (typeof value !== 'string' || !value.includes('\n') || NO_LITERAL.test(value)) return scalar(value)
  const body = value.endsWith('\n') ? value.slice(0, -1) : value
  return `${body === value ? '|-' : '|'}\n${indent}${body.replace(/\n(?!\n|$)/g, `\n${indent}`)}`
}

function scalar (value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return '[]'
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'object' && value !== null ? '{}' : JSON.stringify(value) ?? 'null'
}

function quoted (value: string): string {
  if (value.length <= MAX_PLAIN && PLAIN.test(value) && !TAKEN.test(value)) return value
  return JSON.stringify(value)
    .replace(UNPRINTABLE, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
