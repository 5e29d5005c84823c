/** Which scalars of an apply configuration are not of the type that the schema of a definition names. */
import { isSchema, type JSONSchemaProps } from '../../schemas/api/apiextensions/schemas.js'
import { nameOfType } from '../../schemas/language/decode-error.js'
import { isObject } from '../../schemas/language/values.js'

const WANTED: Readonly<Record<string, string>> = {
  integer: 'a number', number: 'a number', string: 'a string', boolean: 'a boolean'
}

/** As upstream's types of server-side apply: text with a format may be anything, and so may null. */
export function * mistyped (schema: JSONSchemaProps, value: unknown, at = ''): Generator<string> {
  const { type = '', format = '', properties, items, additionalProperties } = schema
  const wanted = format === '' || format === 'byte' || type !== 'string' ? WANTED[type] : undefined
  if (wanted !== undefined) {
    const own = nameOfType(value)
    if (value !== null && own !== wanted) yield `${at}: expected ${wanted}, got ${own}`
  } else if (Array.isArray(value)) {
    if (isSchema(items)) for (const [index, item] of value.entries()) yield * mistyped(items, item, `${at}[${index}]`)
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const part = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties
      if (isSchema(part)) yield * mistyped(part, member, `${at}.${name}`)
    }
  }
}
