/** Estimates the maximum cost of a rule from the sizes its schema allows. */
import { COST_OF_LIST, COST_OF_MAP, costOfCall } from './meter.js'
import { literalOf, loopOf, type Loop, type Node } from './parse.js'
import type { Kind, Type } from './types.js'

const TEXTS: ReadonlySet<Kind> = new Set(['string', 'bytes', 'dyn'])
/** Cost of the loop itself, per item. */
const OF_STEP = { bool: 3, list: COST_OF_LIST + 2 } as const

export function estimateCost (node: Node, types: ReadonlyMap<Node, Type>): number {
  return new Estimator(types).cost(node)
}

class Estimator {
  readonly #types: ReadonlyMap<Node, Type>
  /** Cached sizes of sums, whose parts may be sums too. */
  readonly #sizes = new Map<Node, number>()
  constructor (types: ReadonlyMap<Node, Type>) { this.#types = types }

  cost (node: Node): number {
    switch (node.op) {
      case 'value': return 0
      case 'id': return 1
      case '.': return this.cost(node.args[0]) + 1
      case 'list': return this.#sum(node.args) + COST_OF_LIST
      case 'map': return this.#sum(node.args.flat()) + COST_OF_MAP
      case '?:': return this.cost(node.args[0]) + Math.max(this.cost(node.args[1]), this.cost(node.args[2]))
      case '&&': case '||': return this.#sum(node.args)
      case '!_': case '-_': return this.cost(node.args) + 1
      case 'call': return node.args[0] === 'has' ? this.#sum(node.args[1]) : this.#call(node.args[0], node.args[1])
      case 'rcall': {
        const loop = loopOf(node)
        return loop === undefined ? this.#call(`.${node.args[0]}`, [node.args[1], ...node.args[2]]) : this.#loop(loop)
      }
      case '.?': case '[?]': return 0
      default: return this.#call(node.op, node.args)
    }
  }

  #sum (nodes: readonly Node[]): number { return nodes.reduce((sum, node) => sum + this.cost(node), 0) }

  #call (name: string, args: readonly Node[]): number {
    const [first, second] = args
    const kind = first === undefined ? undefined : this.#types.get(first)?.kind
    const of = second === undefined ? undefined : this.#types.get(second)?.kind
    const listed = kind === 'list' || (name === 'in' && of === 'list')
    const visits = listed ? 'list' : kind !== undefined && TEXTS.has(kind) ? 'text' : undefined
    return this.#sum(args) + costOfCall(name, visits, this.#size(first), this.#size(second))
  }

  #loop ({ over, condition, result }: Loop): number {
    const each = (condition === undefined ? 0 : this.cost(condition)) + (result === undefined ? 0 : this.cost(result))
    return this.cost(over) + this.#size(over) * (each + (result === undefined ? OF_STEP.bool : OF_STEP.list))
  }

  /** The largest size of a value. */
  #size (node: Node | undefined): number {
    if (node === undefined) return 1
    if (node.op === 'list' || node.op === 'map') return node.args.length
    if (node.op === 'value') {
      const value = literalOf(node)
      return typeof value === 'string' || value instanceof Uint8Array ? value.length : 1
    }
    const { kind, most } = this.#types.get(node) ?? {}
    if (kind === undefined || !(TEXTS.has(kind) || kind === 'list' || kind === 'map')) return 1
    if (node.op !== '+') return most ?? Infinity
    let size = this.#sizes.get(node)
    if (size === undefined) this.#sizes.set(node, size = this.#size(node.args[0]) + this.#size(node.args[1]))
    return size
  }
}
