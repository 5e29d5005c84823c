/** The syntax tree of an expression. The checker writes down what it finds in `type` and `overloads`. */
import type { Overload } from './overloads.js'
import type { Type } from './types.js'

/** Unsigned integers have a class of their own, as integers are bigints. */
export class Unsigned { constructor (readonly value: bigint) {} }
export type Literal = string | number | bigint | boolean | null | Uint8Array | Unsigned

interface Part {
  /** Position in the text, where problems are shown. */
  readonly at: number
  /** Levels and parts, this one included; what a macro repeats counts each time. */
  readonly depth: number
  readonly size: number
  type?: Type
}
export interface Constant extends Part { readonly op: 'constant', readonly value: Literal }
export interface Name extends Part { readonly op: 'name', readonly name: string }
/** `of.field`, or with `test` `has(of.field)`. */
export interface Select extends Part {
  readonly op: 'select', readonly of: Node, readonly field: string, readonly test: boolean
}
/** A call of a function or operator; methods have a target. Operators have the names that messages show. */
export interface Call extends Part {
  readonly op: 'call'
  readonly name: string
  readonly target: Node | undefined
  readonly args: readonly Node[]
  /** The overloads that types leave possible. */
  overloads?: readonly Overload[]
  /** The function, if the target is a part of its name: `sets.contains(...)`. */
  qualified?: string
}
/** A chain of `&&` or `||`. */
export interface Logic extends Part { readonly op: 'logic', readonly decisive: boolean, readonly args: readonly Node[] }
export interface Choice extends Part { readonly op: 'choice', readonly args: readonly [Node, Node, Node] }
export interface ListOf extends Part {
  readonly op: 'list', readonly items: readonly Node[], readonly optional: ReadonlySet<Node>
}
export interface Entry { readonly key: Node, readonly value: Node, readonly optional: boolean }
export interface MapOf extends Part { readonly op: 'map', readonly entries: readonly Entry[] }
export interface Field { readonly name: string, readonly value: Node, readonly optional: boolean, readonly at: number }
export interface Struct extends Part { readonly op: 'struct', readonly name: string, readonly fields: readonly Field[] }
/** A macro that visits the items of a list or the keys of a map. */
export interface Fold extends Part {
  readonly op: 'fold'
  readonly kind: 'all' | 'exists' | 'one' | 'list' | 'map' | 'entries'
  readonly range: Node
  readonly names: readonly [string] | readonly [string, string]
  /** The condition of an item; undefined if all count. */
  readonly test: Node | undefined
  /** What an item becomes; undefined for quantifiers. */
  readonly result: Node | undefined
}
/** `body` with a name for `value`. */
export interface Bind extends Part {
  readonly op: 'bind', readonly name: string, readonly value: Node, readonly body: Node
}

export type Node = Constant | Name | Select | Call | Logic | Choice | ListOf | MapOf | Struct | Fold | Bind

export function measure (...parts: ReadonlyArray<Node | undefined>): Pick<Part, 'depth' | 'size'> {
  let [depth, size] = [0, 1]
  for (const part of parts) {
    if (part === undefined) continue
    depth = Math.max(depth, part.depth)
    size += part.size
  }
  return { depth: depth + 1, size }
}

export const call = (name: string, target: Node | undefined, args: readonly Node[], at: number): Call =>
  ({ op: 'call', name, target, args, at, ...measure(target, ...args) })
export const constant = (value: Literal, at: number): Constant => ({ op: 'constant', value, at, ...measure() })
export const name = (text: string, at: number): Name => ({ op: 'name', name: text, at, ...measure() })

/** The name that a chain of selections such as `optional.of` writes. */
export function qualifiedName (node: Node | undefined): string | undefined {
  if (node?.op === 'name') return node.name
  if (node?.op !== 'select' || node.test) return undefined
  const outer = qualifiedName(node.of)
  return outer === undefined ? undefined : `${outer}.${node.field}`
}
