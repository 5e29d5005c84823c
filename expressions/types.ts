/** Types of CEL, and how the checker infers type parameters. */
type Simple = 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'null_type' | 'timestamp' | 'duration' | 'dyn'
/** Types that only functions of the libraries make and read, with their names. */
const OPAQUE = {
  url: 'orch.URL', ip: 'net.IP', cidr: 'net.CIDR', quantity: 'orch.Quantity', semver: 'orch.Semver',
  named_format: 'orch.NamedFormat', authorizer: 'orch.authorization.Authorizer',
  path_check: 'orch.authorization.PathCheck', group_check: 'orch.authorization.GroupCheck',
  resource_check: 'orch.authorization.ResourceCheck', decision: 'orch.authorization.Decision'
} as const
type Opaque = keyof typeof OPAQUE
export type Kind = Simple | Opaque | 'optional' | 'type' | 'list' | 'map' | 'object' | 'param'

export interface Type {
  readonly kind: Kind
  /** The type of items or values, of what an optional holds, or what a type value denotes. */
  readonly of?: Type
  readonly key?: Type
  /** The fields of an object, by the name that expressions use. Default: all, of any type. */
  readonly fields?: ReadonlyMap<string, { readonly member: string, readonly type: Type }>
  /** Name of a type parameter, or of an object's type. */
  readonly name?: string
  /** Maximum size, in items or bytes, of a value that a request can hold; 0 for what has no size. Default unlimited. */
  readonly most?: number
  /** Minimum size of the value in JSON. */
  readonly least?: number
  /** What makes items of a list the same: the value, or these keys. Default: order and value. */
  readonly identity?: 'set' | readonly string[]
  readonly nullable?: boolean
  /** The members of an object are evaluated when they are first read. */
  readonly deferred?: boolean
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
export const optionalOf = (of: Type): Type => ({ kind: 'optional', of })
/** An object with fields that are named as their members. Give it a name if expressions make such objects. */
export function objectOf (fields: Readonly<Record<string, Type>>, name?: string): Type {
  const all = new Map(Object.entries(fields).map(([member, type]) => [member, { member, type }]))
  return { kind: 'object', fields: all, ...(name === undefined ? {} : { name }) }
}

/** Types by the names that expressions use for them. */
const NAMED: ReadonlyMap<string, Type> = new Map<string, Type>([
  ...(['bool', 'bytes', 'double', 'dyn', 'int', 'null_type', 'string', 'uint'] as const)
    .map((kind): [string, Type] => [kind, { kind }]),
  ['list', listOf(DYN)], ['map', mapOf(DYN, DYN)], ['type', typeOf(DYN)],
  ['google.protobuf.Timestamp', { kind: 'timestamp' }], ['google.protobuf.Duration', { kind: 'duration' }],
  ['optional_type', optionalOf(DYN)],
  ...Object.entries(OPAQUE).map(([kind, name]): [string, Type] => [name, { kind: kind as Opaque }])
])
export const typeNamed = (name: string): Type | undefined => NAMED.get(name)

/** The name of a type in messages. */
export function typeName ({ kind, key = DYN, of = DYN, name = '' }: Type): string {
  switch (kind) {
    case 'list': return `list(${typeName(of)})`
    case 'map': return `map(${typeName(key)}, ${typeName(of)})`
    case 'param': return name
    case 'type': return `type(${typeName(of)})`
    case 'optional': return `optional_type(${typeName(of)})`
    case 'object': return name === '' ? 'object' : name
    case 'null_type': return 'null'
    default: return Object.hasOwn(OPAQUE, kind) ? OPAQUE[kind as Opaque] : kind
  }
}

/** The name of an opaque type's values. */
export const opaqueName = (kind: Opaque): string => OPAQUE[kind]

/** Bindings of type parameters. A failed match is undone back to a mark. */
export class Bindings {
  readonly #bound = new Map<string, Type>()
  readonly #undo: Array<readonly [name: string, before: Type | undefined]> = []

  /** A mark for `forget`. */
  get size (): number { return this.#undo.length }
  get (name: string): Type | undefined { return this.#bound.get(name) }

  set (name: string, type: Type): void {
    this.#undo.push([name, this.#bound.get(name)])
    this.#bound.set(name, type)
  }

  forget (size: number): void {
    while (this.#undo.length > size) {
      const [name, before] = this.#undo.pop() ?? ['', undefined]
      if (before === undefined) this.#bound.delete(name)
      else this.#bound.set(name, before)
    }
  }
}

const isUnknown = ({ kind }: Type): boolean => kind === 'param'

/** Replaces type parameters by their bindings, and those without one by `free`; by default they stay. */
export function resolve (type: Type, bound: Bindings, free?: Type): Type {
  if (type.kind === 'param') {
    const boundType = bound.get(type.name ?? '')
    return boundType === undefined ? free ?? type : resolve(boundType, bound, free)
  }
  if (type.of === undefined || type.kind === 'object') return type
  const [of, key] = [resolve(type.of, bound, free), type.key === undefined ? undefined : resolve(type.key, bound, free)]
  return of === type.of && key === type.key ? type : { ...type, of, ...(key === undefined ? {} : { key }) }
}

/** The same, with `dyn` for type parameters without a binding. */
export const resolved = (type: Type, bound: Bindings): Type => resolve(type, bound, DYN)

/** How many of `most` parts a type leaves, negative if it has more; it is read no further than that. */
export function partsLeft (type: Type, most: number, bound: Bindings): number {
  if (type.kind === 'param') {
    const boundType = bound.get(type.name ?? '')
    if (boundType !== undefined) return partsLeft(boundType, most, bound)
  }
  let left = most - 1
  if (type.kind === 'object') return left
  for (const part of [type.key, type.of]) if (part !== undefined && left >= 0) left = partsLeft(part, left, bound)
  return left
}

function mentions (type: Type, name: string | undefined): boolean {
  if (isUnknown(type)) return type.name === name
  return type.kind !== 'object' && [type.of, type.key].some(part => part !== undefined && mentions(part, name))
}

/** Types that may be null; so may opaque ones. */
const NULLABLE: ReadonlySet<Kind> = new Set(['object', 'timestamp', 'duration', 'null_type', 'optional'])
const isNullable = ({ kind }: Type): boolean => NULLABLE.has(kind) || Object.hasOwn(OPAQUE, kind)

/** Whether a value of one type can be used as the other; binds parameters of both. */
export function assign (actual: Type, declared: Type, bound: Bindings): boolean {
  if (isUnknown(declared)) {
    const known = bound.get(declared.name ?? '')
    if (known !== undefined && !isUnknown(known)) {
      const mark = bound.size
      if (!assign(actual, known, bound)) {
        bound.forget(mark)
        return false
      }
      // The more general of both types.
      if (resolve(actual, bound).kind === 'dyn') bound.set(declared.name ?? '', DYN)
      return true
    }
  }
  const [from, to] = [resolve(actual, bound), resolve(declared, bound)]
  if (isUnknown(to) || isUnknown(from)) {
    if (isUnknown(to) && isUnknown(from) && to.name === from.name) return true
    // That of a new value, so that chains stay short.
    const [unknown, known] = isUnknown(from) ? [from, to] : [to, from]
    if (mentions(known, unknown.name)) return false
    bound.set(unknown.name ?? '', known)
    return true
  }
  if (from.kind === 'dyn' || to.kind === 'dyn') return true
  if (from.kind === 'null_type' || to.kind === 'null_type') return isNullable(from) && isNullable(to)
  if (from.kind !== to.kind) return false
  if (from.kind === 'object') return from.fields === to.fields && (from.fields !== undefined || from.name === to.name)
  if (from.kind === 'list' || from.kind === 'optional') return assign(from.of ?? DYN, to.of ?? DYN, bound)
  return from.kind !== 'map' ||
    (assign(from.key ?? DYN, to.key ?? DYN, bound) && assign(from.of ?? DYN, to.of ?? DYN, bound))
}
