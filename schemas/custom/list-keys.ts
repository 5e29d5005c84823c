/** The keys that make an item of a list unique. */
import { isSchema } from '../api/apiextensions/schemas.js'
import type { Plain } from '../language/types.js'
import { isObject } from '../language/values.js'

/** Keys that are not sent have their default. @param items the schema of the items */
export function keysOf (items: unknown, item: unknown, keys: readonly string[]): Plain {
  const properties = isSchema(items) ? items.properties ?? {} : {}
  const members = isObject(item) ? item : {}
  return Object.fromEntries(
    keys.map(key => [key, members[key] ?? properties[key]?.default]).filter(([, value]) => value !== undefined)
  )
}
