/** What an evaluation may cost at most, from the sizes that types allow: upstream's estimate, with its quirks. */
import { COST_OF_LIST, COST_OF_MAP, COST_OF_STRUCT } from './costs.js'
import { costOf, resultOf, type Operand } from './estimated-calls.js'
import { COSTS } from './folds.js'
import { add, exactly, times, union, UNKNOWN, type Range } from './ranges.js'
import { Path } from './paths.js'
import { Unsigned, type Call, type Fold, type Node } from './syntax.js'
import type { Kind, Type } from './types.js'

/** @param root the type in which sizes are looked up. Default: there are none */
export function estimate (node: Node, root: Type | undefined): number {
  return new Estimator(root).cost(node, new Map()).max
}

interface Local { readonly path: Path | undefined, readonly size: Range | undefined, readonly parts: Parts | undefined }
/** The sizes of the keys and values of a list or map that an expression makes. */
interface Parts { readonly key: Range, readonly value: Range }
type Scope = ReadonlyMap<string, Local>

const ONE: ReadonlySet<Kind> = new Set(['bool', 'int', 'uint', 'double', 'duration', 'timestamp'])
const BIND = 10

class Estimator {
  readonly #root: Type | undefined
  /** Sizes of results. */
  readonly #sizes = new Map<Node, Range>()
  readonly #paths = new Map<Node, Path>()
  readonly #parts = new Map<Node, Parts>()

  constructor (root: Type | undefined) { this.#root = root }

  cost (node: Node, scope: Scope): Range {
    switch (node.op) {
      case 'constant': return exactly(0)
      case 'name': {
        const local = scope.get(node.name)
        const path = local === undefined ? Path.of(node.name) : local.path
        if (path !== undefined) this.#paths.set(node, path)
        if (local?.size !== undefined) this.#remembered.set(node, local.size)
        if (local?.parts !== undefined) this.#parts.set(node, local.parts)
        return exactly(1)
      }
      case 'select': {
        const of = this.cost(node.of, scope)
        if (node.test) return of
        this.#paths.set(node, this.#step(node.of, node.field))
        return node.of.type?.kind === 'dyn' ? of : add(of, exactly(1))
      }
      case 'call': return this.#call(node, scope)
      case 'logic': {
        const costs = node.args.map(part => this.cost(part, scope))
        return { min: costs[0]?.min ?? 0, max: add(...costs).max }
      }
      case 'choice': {
        const [condition, yes, no] = node.args
        const costs = [this.cost(condition, scope), union(this.cost(yes, scope), this.cost(no, scope))]
        const sizes = [this.size(yes), this.size(no)]
        if (sizes[0] !== undefined && sizes[1] !== undefined) this.#sizes.set(node, union(sizes[0], sizes[1]))
        this.#both(node, this.#parts.get(yes), this.#parts.get(no))
        return add(...costs)
      }
      case 'list': {
        const costs = node.items.map(item => this.cost(item, scope))
        this.#parts.set(node, { key: exactly(1), value: this.#unionOf(node.items) })
        return add(...costs, exactly(COST_OF_LIST))
      }
      case 'map': {
        const costs = node.entries.flatMap(({ key, value }) => [this.cost(key, scope), this.cost(value, scope)])
        this.#parts.set(node, {
          key: this.#unionOf(node.entries.map(({ key }) => key)),
          value: this.#unionOf(node.entries.map(({ value }) => value))
        })
        return add(...costs, exactly(COST_OF_MAP))
      }
      case 'struct':
        return add(...node.fields.map(({ value }) => this.cost(value, scope)), exactly(COST_OF_STRUCT))
      case 'fold': return this.#fold(node, scope)
      case 'bind': {
        const bound = this.cost(node.value, scope)
        const local = {
          path: this.#paths.get(node.value), size: this.size(node.value), parts: this.#parts.get(node.value)
        }
        return add(exactly(BIND), bound, this.cost(node.body, new Map(scope).set(node.name, local)))
      }
    }
  }

  /** Of iteration and bound variables. */
  readonly #remembered = new Map<Node, Range>()

  #unionOf (nodes: readonly Node[]): Range {
    const [first, ...others] = nodes.map(node => this.size(node) ?? UNKNOWN)
    return first === undefined ? exactly(0) : others.reduce(union, first)
  }

  #both (node: Node, one: Parts | undefined, other: Parts | undefined): void {
    if (one === undefined || other === undefined) return
    this.#parts.set(node, { key: union(one.key, other.key), value: union(one.value, other.value) })
  }

  /** Where nothing has a path, the step begins one; upstream drops the first, so sizes are those of the root. */
  #step (of: Node, step: string): Path { return this.#paths.get(of)?.step(step) ?? Path.of(step) }

  size (node: Node | undefined): Range | undefined {
    if (node === undefined) return undefined
    const known = this.#sizes.get(node) ?? literalSize(node) ?? this.#byPath(this.#paths.get(node))
    if (known !== undefined) return known
    const { type } = node
    const of = type?.kind === 'optional' ? type.of : type
    return of !== undefined && ONE.has(of.kind) ? exactly(1) : this.#remembered.get(node)
  }

  #byPath (path: Path | undefined): Range | undefined {
    let type = path === undefined ? undefined : this.#root
    for (const step of path?.steps().slice(1) ?? []) {
      type = step === '@items' || step === '@values'
        ? type?.kind === 'list' || type?.kind === 'map' ? type.of : undefined
        : step === '@keys' ? type?.key : type?.fields?.get(step)?.type
    }
    return type === undefined ? undefined : { min: 0, max: type.most ?? UNKNOWN.max }
  }

  #call (node: Call, scope: Scope): Range {
    const { name, target, args, qualified, overloads = [] } = node
    const costs = args.map(arg => this.cost(arg, scope))
    const receiver = target === undefined || qualified !== undefined ? [] : [target]
    costs.push(...receiver.map(part => this.cost(part, scope)))
    const nodes = [...receiver, ...args]
    const operands = nodes.map(part => this.#operand(part))
    const own = overloads.map(overload => costOf(overload, operands, receiver.length > 0))
    const [first] = nodes
    if (name === '_[_]' && first !== undefined) {
      const parts = this.#parts.get(first)
      if (parts !== undefined) this.#sizes.set(node, parts.value)
      const kind = first.type?.kind
      if (kind === 'list' || kind === 'map') {
        this.#paths.set(node, this.#step(first, kind === 'list' ? '@items' : '@values'))
      }
    } else if (name === 'dyn' && first !== undefined) {
      const [size, parts] = [this.size(first), this.#parts.get(first)]
      if (size !== undefined) this.#sizes.set(node, size)
      if (parts !== undefined) this.#parts.set(node, parts)
    } else {
      const sizes = overloads.map(overload => resultOf(overload, operands, receiver.length > 0))
      if (sizes.length > 0 && sizes.every(size => size !== undefined)) this.#sizes.set(node, sizes.reduce(union))
      const [one, other] = nodes
      if (name === '_+_' && one !== undefined && other !== undefined) {
        this.#both(node, this.#parts.get(one), this.#parts.get(other))
      }
    }
    return add(...costs, own.length === 0 ? exactly(1) : own.reduce(union))
  }

  #operand (node: Node): Operand {
    const path = this.#paths.get(node)
    return {
      kind: node.type?.kind ?? 'dyn', of: node.type?.of?.kind, size: this.size(node),
      integer: node.op === 'constant' && typeof node.value === 'bigint' ? Number(node.value) : undefined,
      element: () => this.#byPath(path?.step('@items'))
    }
  }

  #fold (node: Fold, scope: Scope): Range {
    const { kind, range, names: [one, other], test, result } = node
    const over = this.cost(range, scope)
    const isMap = range.type?.kind === 'map'
    const parts = this.#parts.get(range)
    const local = (step: string, size: Range | undefined): Local =>
      ({ path: this.#step(range, step), size, parts: undefined })
    const inner = new Map(scope)
    if (other === undefined) {
      inner.set(one, isMap ? local('@keys', parts?.key) : local('@items', parts?.value))
    } else {
      inner.set(one, local(isMap ? '@keys' : '@indices', parts?.key))
      inner.set(other, local(isMap ? '@values' : '@items', parts?.value))
    }
    const costs = COSTS[kind]
    const condition = test === undefined ? undefined : this.cost(test, inner)
    const resultCost = result === undefined ? exactly(0) : this.cost(result, inner)
    const step = stepOf(kind, condition, add(resultCost, exactly(costs.step)))
    const size = this.size(range) ?? UNKNOWN
    const isQuantifier = result === undefined
    this.#sizes.set(node, isQuantifier ? exactly(1) : size)
    if (!isQuantifier) {
      this.#parts.set(node, { key: parts?.key ?? UNKNOWN, value: this.size(result) ?? UNKNOWN })
    }
    return add(
      over, exactly(costs.initial + costs.result), times(size, add(exactly(costs.condition), step))
    )
  }
}

/** The cost of an item: what it becomes counts if there is no condition, or the condition may hold. */
function stepOf (kind: Fold['kind'], condition: Range | undefined, resultCost: Range): Range {
  if (condition === undefined) return resultCost
  if (kind === 'all' || kind === 'exists') return { min: resultCost.min, max: add(resultCost, condition).max }
  return add(condition, union(resultCost, exactly(1)))
}

function literalSize (node: Node): Range | undefined {
  if (node.op === 'list') return exactly(node.items.length)
  if (node.op === 'map') return exactly(node.entries.length)
  if (node.op !== 'constant') return undefined
  const { value } = node
  if (typeof value === 'string') return exactly([...value].length)
  return exactly(value instanceof Uint8Array && !(value instanceof Unsigned) ? value.length : 1)
}
