/** Types of CEL, and how the checker infers type parameters. */
export type Kind = 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'null_type' | 'timestamp' | 'duration' |
  'url' | 'dyn' | 'type' | 'list' | 'map' | 'object' | 'param'

export interface Type {
  readonly kind: Kind
  /** The type of items or values, or the type that a type value denotes. */
  readonly of?: Type
  readonly key?: Type
  /** The fields of an object, by the name that rules use. */
  readonly fields?: ReadonlyMap<string, { readonly member: string, readonly type: Type }>
  /** Name of a type parameter. */
  readonly name?: string
  /** Maximum size, in items or bytes, of a value that a request can hold. Default unlimited. */
  readonly most?: number
  /** Minimum size of the value in JSON. */
  readonly least?: number
  /** What makes items of a list the same: the value, or these keys. Default: order and value. */
  readonly identity?: 'set' | readonly string[]
  readonly nullable?: boolean
}

const simple = (kind: Kind): Type => ({ kind })
export const BOOL = simple('bool')
export const INT = simple('int')
export const STRING = simple('string')
export const NULL = simple('null_type')
export const DYN = simple('dyn')
export const listOf = (of: Type): Type => ({ kind: 'list', of })
export const mapOf = (key: Type, of: Type): Type => ({ kind: 'map', key, of })
export const typeOf = (of: Type): Type => ({ kind: 'type', of })

/** The name of a type in messages. */
export function typeName ({ kind, key = DYN, of = DYN, name = '' }: Type): string {
  if (kind === 'list') return `list(${typeName(of)})`
  if (kind === 'map') return `map(${typeName(key)}, ${typeName(of)})`
  if (kind === 'param') return name
  return kind === 'type' ? `type(${typeName(of)})` : kind === 'null_type' ? 'null' : kind
}

/** Bindings of type parameters. Each is bound once; a failed match is undone by dropping the latest. */
export class Bindings {
  readonly #bound = new Map<string, Type>()
  readonly #order: string[] = []

  /** The number of bindings, for `forget`. */
  get size (): number { return this.#order.length }
  get (name: string): Type | undefined { return this.#bound.get(name) }

  set (name: string, type: Type): void {
    this.#bound.set(name, type)
    this.#order.push(name)
  }

  /** Removes all but the first `size` bindings. */
  forget (size: number): void {
    while (this.#order.length > size) this.#bound.delete(this.#order.pop() ?? '')
  }
}

const isUnknown = ({ kind }: Type): boolean => kind === 'param'

/** Replaces type parameters by their bindings. */
export function resolve (type: Type, bound: Bindings): Type {
  if (type.kind === 'param') {
    const boundType = bound.get(type.name ?? '')
    return boundType === undefined ? type : resolve(boundType, bound)
  }
  if (type.of === undefined || type.kind === 'object') return type
  const [of, key] = [resolve(type.of, bound), type.key === undefined ? undefined : resolve(type.key, bound)]
  return of === type.of && key === type.key ? type : { ...type, of, ...(key === undefined ? {} : { key }) }
}

function mentions (type: Type, name: string | undefined): boolean {
  if (isUnknown(type)) return type.name === name
  return [type.of, type.key].some(part => part !== undefined && mentions(part, name))
}

/** Types that may be null. */
const NULLABLE: ReadonlySet<Kind> = new Set(['object', 'timestamp', 'duration', 'null_type'])

/** Whether a value of one type can be used as the other; binds parameters of both. */
export function assign (actual: Type, declared: Type, bound: Bindings): boolean {
  const [from, to] = [resolve(actual, bound), resolve(declared, bound)]
  if (isUnknown(to) || isUnknown(from)) {
    if (isUnknown(to) && isUnknown(from) && to.name === from.name) return true
    const [unknown, known] = isUnknown(to) ? [to, from] : [from, to]
    if (mentions(known, unknown.name)) return false
    bound.set(unknown.name ?? '', known)
    return true
  }
  if (from.kind === 'dyn' || to.kind === 'dyn') return true
  if (from.kind === 'null_type' || to.kind === 'null_type') return NULLABLE.has(from.kind) && NULLABLE.has(to.kind)
  if (from.kind !== to.kind) return false
  if (from.kind === 'object') return from.fields === to.fields
  if (from.kind === 'list') return assign(from.of ?? DYN, to.of ?? DYN, bound)
  return from.kind !== 'map' ||
    (assign(from.key ?? DYN, to.key ?? DYN, bound) && assign(from.of ?? DYN, to.of ?? DYN, bound))
}
