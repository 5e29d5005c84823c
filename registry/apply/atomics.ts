/** Which parts of a configuration would replace atomic lists, maps or structs as a whole. */
import { isObject } from '../../schemas/language/values.js'
import { membersOf, itemsOf, type Shape } from './shape.js'

/** Paths such as `.spec.tolerations`, outermost ones alone. */
export function atomicsIn (shape: Shape, config: unknown, at = ''): string[] {
  switch (shape.kind) {
    case 'leaf': return isObject(config) || Array.isArray(config) ? [at] : []
    case 'struct':
      return Object.entries(membersOf(config)).flatMap(([name, value]) => {
        const field = shape.field(name)
        return field === undefined ? [] : atomicsIn(field, value, `${at}.${name}`)
      })
    case 'items': return itemsOf(config).flatMap((item, index) => atomicsIn(shape.item, item, `${at}[${index}]`))
    default: return []
  }
}
