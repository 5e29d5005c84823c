/** Paths of rules: `.spec.name`, `['a.b']`, `.labels['x']`. */
import { isSchema, type JSONSchemaProps as Schema } from '../schemas.js'

const QUOTED = /'(?:\\[^]|[^'\\])*'/y
const PLAIN = /[^.[\]]+/y
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\'': '\'', '\\': '\\'
}

/** Why a text is no path. */
class Wrong extends Error {}

/** The path below the value of a schema as causes name it, or why the text is none. */
export function fieldPath (text: string, schema: Schema): { readonly path: string } | { readonly why: string } {
  try {
    return { path: read(text, schema) }
  } catch (error) {
    if (error instanceof Wrong) return { why: error.message }
    throw error
  }
}

function read (text: string, root: Schema): string {
  let [path, schema, at] = ['', root, 0]
  const next = (pattern: RegExp): string => {
    if (at >= text.length) throw new Wrong('unexpected end of JSON path')
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? text.charAt(at)
    at += found.length
    return found
  }
  while (at < text.length) {
    const sign = next(/[.[]/y)
    if (sign !== '.' && sign !== '[') {
      at -= sign.length
      throw new Wrong(`expected [ or . but got: ${next(PLAIN)}`)
    }
    const written = next(sign === '.' ? PLAIN : QUOTED)
    const name = sign === '.' ? written : unquoted(written)
    if (sign === '[') {
      const close = next(/\]/y)
      if (close !== ']') throw new Wrong(`expected ] but got ${close}`)
    }
    const { properties, additionalProperties } = schema
    const part = properties === undefined
      ? additionalProperties
      : Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!isSchema(part)) throw new Wrong('does not refer to a valid field')
    path += properties === undefined ? `[${name}]` : path === '' ? name : `.${name}`
    schema = part
  }
  return path
}

function unquoted (text: string): string {
  if (text.length < 2 || !text.startsWith('\'') || !text.endsWith('\'')) {
    throw new Wrong(`expected single quoted string but got ${text}`)
  }
  return text.slice(1, -1).replace(/\\([^])/g, (escape, character: string) => {
    const plain = ESCAPES[character]
    if (plain === undefined) throw new Wrong(`invalid string literal: invalid escape char ${escape}`)
    return plain
  })
}
