/** Infers the type of every part of a rule, and refuses rules that cannot be evaluated. */
import { overloadsOf } from './overloads.js'
import { Problem, literalOf, loopOf, type Literal, type Loop, type Node } from './parse.js'
import {
  assign, Bindings, BOOL, DYN, INT, listOf, mapOf, NULL, resolve, STRING, typeName, typeOf, type Type
} from './types.js'

const TYPES_BY_NAME: Readonly<Record<string, Type>> = Object.assign(Object.create(null), {
  int: INT, bool: BOOL, string: STRING, list: listOf(DYN), map: mapOf(DYN, DYN), null_type: NULL,
  ...Object.fromEntries((['uint', 'double', 'bytes', 'type'] as const).map(kind => [kind, { kind }])),
  'google.protobuf.Timestamp': { kind: 'timestamp' }, 'google.protobuf.Duration': { kind: 'duration' }
})
export const typeNamed = (name: string): Type | undefined => TYPES_BY_NAME[name]

const OPERATOR_NAMES: Readonly<Record<string, string>> = { '!_': '!_', '-_': '-_', '[]': '_[_]', in: '@in' }

export interface Checked {
  readonly type: Type
  /** The type of each part. */
  readonly types: ReadonlyMap<Node, Type>
  /** The variables that are read. */
  readonly mentioned: ReadonlySet<string>
}

/** The name of a chain of selections such as `google.protobuf.Duration`. */
export function qualifiedName (node: Node): string | undefined {
  if (node.op === 'id') return node.args
  if (node.op !== '.') return undefined
  const outer = qualifiedName(node.args[0])
  return outer === undefined ? undefined : `${outer}.${node.args[1]}`
}

/** @param variables by name @throws Problem */
export function checkRule (rule: string, node: Node, variables: ReadonlyMap<string, Type>): Checked {
  const checker = new Checker(rule, variables)
  const type = resolve(checker.check(node, variables), checker.bound)
  for (const [part, bound] of checker.types) checker.types.set(part, resolve(bound, checker.bound))
  return { type, types: checker.types, mentioned: checker.mentioned }
}

class Checker {
  readonly #rule: string
  readonly types = new Map<Node, Type>()
  readonly bound = new Bindings()
  readonly mentioned = new Set<string>()
  #parameters = 0

  readonly #variables: ReadonlyMap<string, Type>

  constructor (rule: string, variables: ReadonlyMap<string, Type>) {
    this.#rule = rule
    this.#variables = variables
  }

  check (node: Node, scope: ReadonlyMap<string, Type>): Type {
    const type = this.#typeOf(node, scope)
    this.types.set(node, type)
    return type
  }

  #typeOf (node: Node, scope: ReadonlyMap<string, Type>): Type {
    switch (node.op) {
      case 'value': return this.#literal(literalOf(node), node)
      case 'id': return this.#variable(node.args, node, scope)
      case '.': return this.#select(node.args[0], node.args[1], node, scope)
      case 'list': return listOf(this.#common(node.args, scope))
      case 'map':
        return mapOf(
          this.#common(node.args.map(([key]) => key), scope), this.#common(node.args.map(([, value]) => value), scope)
        )
      case '?:': return this.#choice(node.args, scope)
      case '&&': case '||': return this.#bools(node.args, `_${node.op}_`, node, scope)
      case '!_': case '-_':
        // The smallest integer is a literal of its own.
        if (node.op === '-_' && node.args.op === 'value' && node.args.args === 2n ** 63n) return INT
        return this.#call([node.op, OPERATOR_NAMES[node.op] ?? node.op], [node.args], node, scope)
      case 'call': return this.#function(node.args[0], node.args[1], node, scope)
      case 'rcall': {
        const loop = loopOf(node)
        if (loop !== undefined) return this.#loop(loop, scope)
        return this.#call([`.${node.args[0]}`, node.args[0]], [node.args[1], ...node.args[2]], node, scope)
      }
      case '.?': case '[?]': return this.#fail('unsupported syntax', node)
      default: return this.#call([node.op, OPERATOR_NAMES[node.op] ?? `_${node.op}_`], node.args, node, scope)
    }
  }

  #fail (problem: string, at: Node | number): never {
    throw new Problem(problem, this.#rule, typeof at === 'number' ? at : at.start)
  }

  #literal (value: Literal, node: Node): Type {
    if (typeof value === 'bigint') return value < 2n ** 63n ? INT : this.#fail('invalid int literal', node)
    if (value === null) return NULL
    if (typeof value === 'object') return { kind: value instanceof Uint8Array ? 'bytes' : 'uint' }
    return typeof value === 'number'
      ? { kind: 'double' }
      : typeof value === 'string'
        ? { ...STRING, most: Buffer.byteLength(value) }
        : BOOL
  }

  #variable (name: string, node: Node, scope: ReadonlyMap<string, Type>): Type {
    const type = scope.get(name)
    if (type !== undefined) {
      if (type === this.#variables.get(name)) this.mentioned.add(name)
      return type
    }
    const named = typeNamed(name)
    return named === undefined ? this.#fail(`undeclared reference to '${name}' (in container '')`, node) : typeOf(named)
  }

  #select (object: Node, field: string, node: Node, scope: ReadonlyMap<string, Type>): Type {
    const named = typeNamed(qualifiedName(node) ?? '')
    if (named !== undefined && !scope.has('google')) return typeOf(named)
    const type = resolve(this.check(object, scope), this.bound)
    if (type.kind === 'dyn' || type.kind === 'param') return DYN
    if (type.kind === 'map') return type.of ?? DYN
    if (type.kind !== 'object') {
      return this.#fail(`type '${typeName(type)}' does not support field selection`, object.end)
    }
    return type.fields?.get(field)?.type ?? this.#fail(`undefined field '${field}'`, object.end)
  }

  /** The type of all elements of a literal. */
  #common (parts: readonly Node[], scope: ReadonlyMap<string, Type>): Type {
    let common: Type = this.#parameter()
    for (const part of parts) {
      const type = this.check(part, scope)
      if (!assign(type, common, this.bound)) {
        this.#fail(`expected type '${this.#name(common)}' but found '${this.#name(type)}'`, part)
      }
      if (type.kind === 'dyn') common = DYN
    }
    return common
  }

  #choice ([condition, yes, no]: readonly [Node, Node, Node], scope: ReadonlyMap<string, Type>): Type {
    this.#mustBeBool(condition, scope)
    const [left, right] = [this.check(yes, scope), this.check(no, scope)]
    if (!assign(right, left, this.bound)) {
      this.#fail(
        `found no matching overload for '_?_:_' applied to '(bool, ${this.#name(left)}, ${this.#name(right)})'`, yes
      )
    }
    return right.kind === 'dyn' ? right : left
  }

  #bools (parts: readonly Node[], name: string, node: Node, scope: ReadonlyMap<string, Type>): Type {
    const types = parts.map(part => this.check(part, scope))
    if (!types.every(type => assign(type, BOOL, this.bound))) this.#mismatch(name, types, node)
    return BOOL
  }

  #mustBeBool (node: Node, scope: ReadonlyMap<string, Type>): void {
    const type = this.check(node, scope)
    if (!assign(type, BOOL, this.bound)) this.#fail(`expected type 'bool' but found '${this.#name(type)}'`, node)
  }

  #function (name: string, args: readonly Node[], node: Node, scope: ReadonlyMap<string, Type>): Type {
    if (name !== 'has' || args.length !== 1) return this.#call([name, name], args, node, scope)
    const [field] = args
    if (field?.op !== '.') return this.#fail('invalid argument to has() macro', node)
    this.check(field, scope)
    return BOOL
  }

  #loop ({ macro, over, variable, condition, result }: Loop, scope: ReadonlyMap<string, Type>): Type {
    const range = resolve(this.check(over, scope), this.bound)
    if (!['list', 'map', 'dyn', 'param'].includes(range.kind)) {
      this.#fail(
        `expression of type '${typeName(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        over
      )
    }
    const item = range.kind === 'list' ? range.of ?? DYN : range.kind === 'map' ? range.key ?? DYN : DYN
    const inner = new Map(scope).set(variable, item)
    if (condition !== undefined) this.#mustBeBool(condition, inner)
    const size = range.most === undefined ? {} : { most: range.most }
    if (result !== undefined) return { ...listOf(this.check(result, inner)), ...size }
    return macro === 'filter' ? { ...listOf(item), ...size } : BOOL
  }

  /** @param names that of the overloads, and that in messages */
  #call (
    [key, name]: readonly [string, string], args: readonly Node[], node: Node, scope: ReadonlyMap<string, Type>
  ): Type {
    const types = args.map(arg => this.check(arg, scope))
    const known = overloadsOf(key)
    if (known === undefined) return this.#fail(`undeclared reference to '${name}' (in container '')`, node)
    const results: Type[] = []
    for (const { takes, returns } of known) {
      if (takes.length !== types.length) continue
      const [own, { size }] = [new Map<string, Type>(), this.bound]
      const isMatch = takes.every((declared, index) =>
        assign(types[index] ?? DYN, this.#fresh(declared, own), this.bound))
      if (isMatch) results.push(resolve(this.#fresh(returns, own), this.bound))
      // The first match decides on parameters.
      if (!isMatch || results.length > 1) this.bound.forget(size)
    }
    const [first, ...others] = results
    if (first === undefined) return this.#mismatch(name, types, node)
    return others.every(({ kind }) => kind === first.kind) ? first : DYN
  }

  #mismatch (name: string, types: readonly Type[], node: Node): never {
    const names = types.map(type => this.#name(type))
    const applied = node.op === 'rcall' ? `${names[0] ?? ''}.(${names.slice(1).join(', ')})` : `(${names.join(', ')})`
    return this.#fail(`found no matching overload for '${name}' applied to '${applied}'`, node)
  }

  #name (type: Type): string { return typeName(resolve(type, this.bound)) }

  #parameter (): Type { return { kind: 'param', name: `_var${this.#parameters++}` } }

  /** The same type with type parameters of its own. */
  #fresh (type: Type, own: Map<string, Type>): Type {
    if (type.kind === 'param') {
      const known = own.get(type.name ?? '') ?? this.#parameter()
      own.set(type.name ?? '', known)
      return known
    }
    if (type.of === undefined) return type
    return {
      ...type, of: this.#fresh(type.of, own), ...(type.key === undefined ? {} : { key: this.#fresh(type.key, own) })
    }
  }
}
