/** Infers the type of every part of an expression, and refuses what cannot be evaluated. */
import { checkLiteral } from './literals.js'
import { overloadsOf, type Overload } from './overloads.js'
import { Problem } from './problem.js'
import { qualifiedName, Unsigned, type Call, type Fold, type Literal, type Node, type Struct } from './syntax.js'
import {
  assign, Bindings, BOOL, DYN, INT, listOf, mapOf, NULL, optionalOf, partsLeft, resolve, resolved, STRING, typeName,
  typeNamed, typeOf, type Type
} from './types.js'

export interface Declared {
  readonly variables: ReadonlyMap<string, Type>
  /** Functions beyond those of every environment. */
  readonly functions: ReadonlySet<string>
  /** The types of objects that expressions may make, by name. */
  readonly structs: ReadonlyMap<string, Type>
}

export interface Checked {
  readonly type: Type
  /** The variables that are read. */
  readonly mentioned: ReadonlySet<string>
}

type Scope = ReadonlyMap<string, Type>

/** Writes the type of each part, and the overloads of each call, into the tree. @throws Problem */
export function check (text: string, node: Node, declared: Declared): Checked {
  const checker = new Checker(text, declared)
  checker.check(node, new Map())
  for (const part of checker.checked) if (part.type !== undefined) part.type = resolved(part.type, checker.bound)
  checker.mixed()
  return { type: node.type ?? DYN, mentioned: checker.mentioned }
}

/** Functions that only some environments have. */
const OF_SOME: ReadonlySet<string> = new Set(['jsonpatch.escapeKey', '.includes'])

/** Maximum number of nested types in a type: `{x: x}` has twice as many as `x`, so a chain grows exponentially. */
const MAX_TYPE_PARTS = 100

class Checker {
  readonly #text: string
  readonly #declared: Declared
  readonly checked: Node[] = []
  readonly bound = new Bindings()
  readonly mentioned = new Set<string>()
  #parameters = 0
  readonly #literals: Array<ReadonlyArray<readonly [Node, boolean]>> = []
  /** Calls of `format` around what is checked. */
  #formats = 0

  constructor (text: string, declared: Declared) {
    this.#text = text
    this.#declared = declared
  }

  check (node: Node, scope: Scope): Type {
    if (node.type !== undefined) return node.type // macros repeat their operand
    const type = this.#typeOf(node, scope)
    if (partsLeft(type, MAX_TYPE_PARTS, this.bound) < 0) {
      this.#fail(`a type has at most ${MAX_TYPE_PARTS} parts`, node)
    }
    node.type = type
    this.checked.push(node)
    return type
  }

  #typeOf (node: Node, scope: Scope): Type {
    switch (node.op) {
      case 'constant': return literalType(node.value)
      case 'name': return this.#variable(node.name, node, scope)
      case 'select': return this.#select(node, scope)
      case 'call': return this.#called(node, scope)
      case 'logic': return this.#logic(node.args, `_${node.decisive ? '||' : '&&'}_`, node, scope)
      case 'choice': return this.#choice(node.args, node, scope)
      case 'list':
        return listOf(this.#common(node.items.map(item => [item, node.optional.has(item)]), scope))
      case 'map':
        return mapOf(
          this.#common(node.entries.map(({ key }) => [key, false]), scope),
          this.#common(node.entries.map(({ value, optional }) => [value, optional]), scope)
        )
      case 'struct': return this.#struct(node, scope)
      case 'fold': return this.#fold(node, scope)
      case 'bind': return this.check(node.body, new Map(scope).set(node.name, this.check(node.value, scope)))
    }
  }

  #fail (problem: string, { at }: Pick<Node, 'at'>): never { throw new Problem(problem, this.#text, at) }

  #known (name: string, scope: Scope): Type | undefined {
    const local = scope.get(name)
    if (local !== undefined) return local
    const type = this.#declared.variables.get(name)
    if (type !== undefined) this.mentioned.add(name)
    return type
  }

  #variable (name: string, node: Node, scope: Scope): Type {
    const type = this.#known(name, scope)
    if (type !== undefined) return type
    const named = typeNamed(name)
    return named === undefined ? this.#fail(`undeclared reference to '${name}' (in container '')`, node) : typeOf(named)
  }

  #select (node: Extract<Node, { op: 'select' }>, scope: Scope): Type {
    const name = qualifiedName(node)
    if (name !== undefined && !scope.has(name.split('.', 1)[0] ?? '')) {
      // Some variables have a dot in their name.
      const variable = this.#declared.variables.has(name) ? this.#known(name, scope) : undefined
      if (variable !== undefined) return variable
      const named = typeNamed(name)
      if (named !== undefined) return typeOf(named)
    }
    const type = this.#member(resolve(this.check(node.of, scope), this.bound), node.field, node)
    return node.test ? BOOL : type
  }

  #member (type: Type, field: string, node: Node): Type {
    switch (type.kind) {
      case 'optional': {
        const of = this.#member(resolve(type.of ?? DYN, this.bound), field, node)
        return of.kind === 'optional' ? of : optionalOf(of)
      }
      case 'dyn': case 'param': return DYN
      case 'map': return type.of ?? DYN
      case 'object': return fieldOf(type, field) ?? this.#fail(`undefined field '${field}'`, node)
      default: return this.#fail(`type '${this.#name(type)}' does not support field selection`, node)
    }
  }

  /** The type of all elements of a literal; optional ones are there if they have a value. */
  #common (parts: ReadonlyArray<readonly [Node, boolean]>, scope: Scope): Type {
    let common: Type = this.#parameter()
    for (const [part, optional] of parts) {
      const type = this.#held(part, optional, resolve(this.check(part, scope), this.bound))
      const { size } = this.bound
      if (type.kind === 'dyn' || !assign(type, common, this.bound)) {
        this.bound.forget(size)
        common = DYN
      }
    }
    if (this.#formats === 0) this.#literals.push(parts)
    return common
  }

  #held (part: Node, optional: boolean, type: Type): Type {
    if (!optional || type.kind === 'dyn') return type
    return type.kind === 'optional'
      ? type.of ?? DYN
      : this.#fail(`expected type 'optional_type(${this.#name(type)})' but found '${this.#name(type)}'`, part)
  }

  /** Refuses literals with elements of different types, but those that are formatted. */
  mixed (): void {
    for (const parts of this.#literals) {
      let first: Type | undefined
      for (const [part, optional] of parts) {
        const type = this.#held(part, optional, part.type ?? DYN)
        first ??= type
        if (typeName(first) !== typeName(type)) {
          this.#fail(`expected type '${typeName(first)}' but found '${typeName(type)}'`, part)
        }
      }
    }
  }

  #choice ([condition, yes, no]: readonly [Node, Node, Node], node: Node, scope: Scope): Type {
    const types = [condition, yes, no].map(part => this.check(part, scope)) as [Type, Type, Type] // of three
    const own: Type = this.#parameter()
    if (!assign(types[0], BOOL, this.bound) || !assign(types[1], own, this.bound) ||
      !assign(types[2], own, this.bound)) {
      this.#fail(
        `found no matching overload for '_?_:_' applied to '(${types.map(type => this.#name(type)).join(', ')})'`, node
      )
    }
    return resolve(own, this.bound)
  }

  #logic (parts: readonly Node[], name: string, node: Node, scope: Scope): Type {
    const types = parts.map(part => this.check(part, scope))
    const wrong = types.findIndex(type => !assign(type, BOOL, this.bound))
    if (wrong >= 0) this.#mismatch(name, types.slice(Math.max(0, wrong - 1), Math.max(2, wrong + 1)), node)
    return BOOL
  }

  #mustBeBool (node: Node, scope: Scope): void {
    const type = this.check(node, scope)
    if (!assign(type, BOOL, this.bound)) this.#fail(`expected type 'bool' but found '${this.#name(type)}'`, node)
  }

  #struct ({ name, fields, at }: Struct, scope: Scope): Type {
    const type = this.#made(name) ?? this.#fail(typeNamed(name) === undefined
      ? `undeclared reference to '${name}' (in container '')`
      : `'${name}' is not a message type`, { at })
    for (const { name: field, value, optional, at } of fields) {
      const wanted = fieldOf(type, field) ?? this.#fail(`undefined field '${field}'`, { at })
      const given = resolve(this.check(value, scope), this.bound)
      const held = optional && given.kind === 'optional' ? given.of ?? DYN : given
      if (!assign(held, wanted, this.bound) && !(held.kind === 'null_type' && wanted.nullable === true)) {
        this.#fail(
          `expected type of field '${field}' is '${this.#name(wanted)}' but provided type is '${this.#name(held)}'`,
          { at }
        )
      }
    }
    return type
  }

  /** The type of objects with that name. One without fields stands for those below it: `Object` for `Object.spec`. */
  #made (name: string): Type | undefined {
    const { structs } = this.#declared
    const root = structs.get(name.split('.', 1)[0] ?? '')
    return structs.get(name) ?? (root?.kind === 'object' && root.fields === undefined ? { ...root, name } : undefined)
  }

  #fold (node: Fold, scope: Scope): Type {
    const { kind, names: [first, second], test, result } = node
    const range = resolve(this.check(node.range, scope), this.bound)
    if (!['list', 'map', 'dyn', 'param'].includes(range.kind)) {
      this.#fail(
        `expression of type '${this.#name(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        node.range
      )
    }
    const [key, value] = range.kind === 'list'
      ? [INT, range.of ?? DYN]
      : range.kind === 'map' ? [range.key ?? DYN, range.of ?? DYN] : [DYN, DYN]
    const inner = new Map(scope).set(first, second !== undefined || range.kind !== 'list' ? key : value)
    if (second !== undefined) inner.set(second, value)
    if (test !== undefined) this.#mustBeBool(test, inner)
    if (result === undefined) return BOOL
    const of = resolve(this.check(result, inner), this.bound)
    if (kind === 'list') return listOf(of)
    if (kind === 'map') return mapOf(key, of)
    const entry = mapOf(this.#parameter(), this.#parameter())
    if (!assign(of, entry, this.bound)) this.#mismatch('cel.@mapInsert', [entry, of], node)
    return resolve(entry, this.bound)
  }

  #called (node: Call, scope: Scope): Type {
    const { name, target, args } = node
    if (name === '_?._') return this.#optionalMember(node, scope)
    const qualified = `${qualifiedName(target) ?? ''}.${name}`
    const isQualified = target !== undefined && qualified !== `.${name}` && this.#has(qualified)
    if (isQualified) node.qualified = qualified
    const formats = name === 'format' ? 1 : 0
    this.#formats += formats
    const receiver = target === undefined || isQualified ? [] : [this.check(target, scope)]
    const types = [...receiver, ...args.map(arg => this.check(arg, scope))]
    this.#formats -= formats
    const key = isQualified ? qualified : target === undefined ? name : `.${name}`
    const known = this.#has(key) ? overloadsOf(key) : undefined
    if (known === undefined && !this.#has(target === undefined ? `.${name}` : name)) {
      return this.#fail(`undeclared reference to '${name}' (in container '')`, node)
    }
    return this.#resolved(known ?? [], types, isQualified ? qualified : name, node)
  }

  #has (key: string): boolean {
    return overloadsOf(key) !== undefined && (!OF_SOME.has(key) || this.#declared.functions.has(key))
  }

  #resolved (known: readonly Overload[], types: readonly Type[], name: string, node: Call): Type {
    const matching: Overload[] = []
    let result: Type | undefined
    for (const overload of known) {
      if (overload.takes.length !== types.length) continue
      const [own, { size }] = [new Map<string, Type>(), this.bound]
      if (!overload.takes.every((type, index) => assign(types[index] ?? DYN, this.#fresh(type, own), this.bound))) {
        this.bound.forget(size)
        continue
      }
      matching.push(overload)
      const returns = resolve(this.#fresh(overload.returns, own), this.bound)
      // The first match decides on parameters.
      if (result === undefined) result = returns
      else {
        this.bound.forget(size)
        if (typeName(returns) !== typeName(result)) result = DYN
      }
    }
    if (result === undefined) return this.#mismatch(name, types, node)
    node.overloads = matching
    const problem = checkLiteral(node)
    if (problem !== undefined) throw new Problem(problem.problem, this.#text, problem.at, problem.subject)
    return result
  }

  /** `of.?field`, whose field is a literal. */
  #optionalMember (node: Call, scope: Scope): Type {
    const [of, field] = node.args as [Node, Node] // as parsed
    const type = resolve(this.check(of, scope), this.bound)
    this.check(field, scope)
    const member = this.#member(type, field.op === 'constant' ? String(field.value) : '', node)
    return member.kind === 'optional' ? member : optionalOf(member)
  }

  #mismatch (name: string, types: readonly Type[], node: Node): never {
    const names = types.map(type => this.#name(type))
    const isMethod = node.op === 'call' && node.target !== undefined && node.qualified === undefined
    const applied = isMethod ? `${names[0] ?? ''}.(${names.slice(1).join(', ')})` : `(${names.join(', ')})`
    return this.#fail(`found no matching overload for '${name}' applied to '${applied}'`, node)
  }

  #name (type: Type): string { return typeName(resolved(type, this.bound)) }

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

/** A type without fields has all. */
const fieldOf = ({ fields }: Type, name: string): Type | undefined =>
  fields === undefined ? DYN : fields.get(name)?.type

function literalType (value: Literal): Type {
  if (typeof value === 'bigint') return INT
  if (value === null) return NULL
  if (typeof value === 'object') return { kind: value instanceof Unsigned ? 'uint' : 'bytes' }
  return typeof value === 'number' ? { kind: 'double' } : typeof value === 'string' ? STRING : BOOL
}
