/** Paths of rules: `.spec.name`, `['a.b']`, `.labels['x']`. */
import { isSchema, type JSONSchemaProps as Schema } from '../schemas.js'

const STEP = /\.([^.[\]]+)|\['((?:\\[abfnrtv'\\]|[^'\\])*)'\]/y
const ESCAPES: Readonly<Record<string, string>> =
  { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** The path below the value of a schema as causes name it. Undefined if the text is none, or names no field. */
export function fieldPath (text: string, root: Schema): string | undefined {
  let [path, schema] = ['', root]
  for (let at = 0; at < text.length; at = STEP.lastIndex) {
    STEP.lastIndex = at
    const [, plain, quoted = ''] = STEP.exec(text) ?? []
    if (STEP.lastIndex === 0) return undefined
    const name = plain ?? quoted.replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character)
    const { properties, additionalProperties } = schema
    const part = properties === undefined
      ? additionalProperties
      : Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!isSchema(part)) return undefined
    path += properties === undefined ? `[${name}]` : path === '' ? name : `.${name}`
    schema = part
  }
  return path
}
