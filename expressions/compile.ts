/**
 * Compiles a checked rule into functions. Parts with loops run in steps, so that they do not hold the event loop.
 */
import type { Steps } from '../schemas/steps.js'
import { qualifiedName, typeNamed } from './check.js'
import { functions } from './functions.js'
import { COST_OF_LIST, COST_OF_MAP, costOfCall, type Meter } from './meter.js'
import { literalOf, loopOf, type Literal, type Loop, type Node } from './parse.js'
import {
  Entries, Fault, orFault, isDict, Items, List, sizeOf, TypeValue, Uint, type Key, type Value
} from './values.js'

/** The values of the variables by slot, and the cost of the evaluation. */
export interface Frame { readonly slots: Value[], readonly meter: Meter }

type Run = (frame: Frame) => Value
/** Either `run` or `steps`. */
export type Code = { readonly run: Run, readonly steps?: undefined } |
  { readonly run?: undefined, readonly steps: (frame: Frame) => Steps<Value> }

const isPlain = (code: Code): code is Extract<Code, { run: Run }> => code.run !== undefined

/** The slot of each variable. */
type Scope = ReadonlyMap<string, number>

export function compileRule (node: Node, scope: Scope): Code { return new Compiler(scope.size).compile(node, scope) }

class Compiler {
  #slots: number

  constructor (slots: number) { this.#slots = slots }

  compile (node: Node, scope: Scope): Code {
    switch (node.op) {
      case 'value': return constant(valueOf(literalOf(node)))
      case 'id': return variable(node.args, scope)
      case '.': return this.#select(node, scope)
      case 'list': return strict(this.#all(node.args, scope), (values, { meter }) => {
        meter.spend(COST_OF_LIST)
        return new List(values)
      })
      case 'map': return strict(this.#all(node.args.flat(), scope), literalMap)
      case '?:': return this.#choice(node.args, scope)
      case '&&': case '||': return this.#logic(node.args, node.op === '||', scope)
      case '!_': case '-_':
        if (node.op === '-_' && node.args.op === 'value' && node.args.args === 2n ** 63n) return constant(-(2n ** 63n))
        return this.#call(node.op, [node.args], scope)
      case 'call':
        return node.args[0] === 'has' && node.args[1].length === 1
          ? this.#has(node.args[1], scope)
          : this.#call(node.args[0], node.args[1], scope)
      case 'rcall': {
        const loop = loopOf(node)
        return loop === undefined
          ? this.#call(`.${node.args[0]}`, [node.args[1], ...node.args[2]], scope)
          : this.#loop(loop, scope)
      }
      case '.?': case '[?]': return constant(new Fault('no such overload'))
      default: return this.#call(node.op, node.args, scope)
    }
  }

  #all (nodes: readonly Node[], scope: Scope): Code[] { return nodes.map(node => this.compile(node, scope)) }

  #call (name: string, args: readonly Node[], scope: Scope): Code {
    const apply = functions.get(name)
    return strict(this.#all(args, scope), (values, { meter }) => {
      const [first, second] = values
      const listed = first instanceof Items || (name === 'in' && second instanceof Items)
      const texts = typeof first === 'string' || first instanceof Uint8Array
      meter.spend(costOfCall(name, listed ? 'list' : texts ? 'text' : undefined, sizeOf(first), sizeOf(second)))
      return orFault(apply?.(values, meter), 'no such overload')
    })
  }

  #select (node: Extract<Node, { op: '.' }>, scope: Scope): Code {
    const [object, field] = node.args
    const name = qualifiedName(node) ?? ''
    if (typeNamed(name) !== undefined) return constant(new TypeValue(name))
    return strict([this.compile(object, scope)], ([of = null], { meter }) => {
      meter.spend(1)
      if (typeof of !== 'object' || of === null || !isDict(of)) return new Fault('no such overload')
      return orFault(of.get(field), `no such key: ${field}`)
    })
  }

  #has ([node]: readonly Node[], scope: Scope): Code {
    if (node?.op !== '.') return constant(new Fault('no such overload'))
    const [object, field] = node.args
    return strict([this.compile(object, scope)], ([of = null], { meter }) => {
      meter.spend(1)
      return typeof of !== 'object' || of === null || !isDict(of)
        ? new Fault('no such overload')
        : of.get(field) !== undefined
    })
  }

  #choice ([condition, yes, no]: readonly [Node, Node, Node], scope: Scope): Code {
    const [test, left, right] = [this.compile(condition, scope), this.compile(yes, scope), this.compile(no, scope)]
    const chosen = (holds: Value): Code => holds === true
      ? left
      : holds === false
        ? right
        : constant(holds instanceof Fault ? holds : new Fault('no such overload'))
    if (isPlain(test) && isPlain(left) && isPlain(right)) {
      return {
        run: frame => {
          const holds = test.run(frame)
          return holds === true
            ? left.run(frame)
            : holds === false
              ? right.run(frame)
              : holds instanceof Fault
                ? holds
                : new Fault('no such overload')
        }
      }
    }
    return { steps: function * (frame) { return yield * stepsOf(chosen(yield * stepsOf(test, frame)), frame) } }
  }

  /** @param decisive the operand value that decides alone (`true` for `||`) */
  #logic ([one, other]: readonly [Node, Node], decisive: boolean, scope: Scope): Code {
    const [left, right] = [this.compile(one, scope), this.compile(other, scope)]
    const combined = (first: Value, second: Value): Value => {
      if (second === decisive) return decisive
      if (first instanceof Fault) return first
      return second instanceof Fault
        ? second
        : first === !decisive && second === !decisive
          ? !decisive
          : new Fault('no such overload')
    }
    if (isPlain(left) && isPlain(right)) {
      return {
        run: frame => {
          const first = left.run(frame)
          return first === decisive ? decisive : combined(first, right.run(frame))
        }
      }
    }
    return {
      steps: function * (frame) {
        const first = yield * stepsOf(left, frame)
        return first === decisive ? decisive : combined(first, yield * stepsOf(right, frame))
      }
    }
  }

  #loop ({ macro, over, variable, condition, result }: Loop, scope: Scope): Code {
    const [range, slot] = [this.compile(over, scope), this.#slots++]
    const inner = new Map(scope).set(variable, slot)
    const [test, make] = [condition === undefined
      ? undefined
      : this.compile(condition, inner), result === undefined ? undefined : this.compile(result, inner)]
    const begin = LOOPS[macro]
    return {
      steps: function * (frame) {
        const { slots, meter } = frame
        const items = itemsOf(yield * stepsOf(range, frame))
        if (items instanceof Fault) return items
        const { step, end } = begin()
        for (let index = 0; index < items.size; index++) {
          const item = items.at(index) ?? null
          meter.spend(COST_OF_STEP)
          slots[slot] = item
          const holds = test === undefined ? true : isPlain(test) ? test.run(frame) : yield * test.steps(frame)
          const made = holds !== true ||
            make === undefined
            ? item
            : isPlain(make) ? make.run(frame) : yield * make.steps(frame)
          const ended = step(holds, made)
          if (ended !== undefined) return ended
          if (meter.isDue) yield
        }
        return end()
      }
    }
  }
}

/** Cost of the loop itself, per item. */
const COST_OF_STEP = 3

interface Fold {
  /** @returns the result, if the loop ends here */
  readonly step: (holds: Value, made: Value) => Value | undefined
  readonly end: () => Value
}

const NO_BOOL = new Fault('no such overload')
const notBool = (holds: Value): Value | undefined =>
  holds instanceof Fault ? holds : typeof holds === 'boolean' ? undefined : NO_BOOL

/** One item may decide; errors of other items then do not matter. */
const quantifier = (decisive: boolean) => (): Fold => {
  let fault: Value | undefined
  return {
    step: holds => {
      if (holds === decisive) return decisive
      fault ??= notBool(holds)
      return undefined
    },
    end: () => fault ?? !decisive
  }
}

function collecting (): Fold {
  const items: Value[] = []
  return {
    step: (holds, made) => {
      if (holds === true && !(made instanceof Fault)) items.push(made)
      return holds === true && made instanceof Fault ? made : notBool(holds)
    },
    end: () => new List(items)
  }
}

function counting (): Fold {
  let count = 0
  return {
    step: holds => {
      if (holds === true) count++
      return notBool(holds)
    },
    end: () => count === 1
  }
}

const LOOPS: Readonly<Record<Loop['macro'], () => Fold>> = {
  all: quantifier(false), exists: quantifier(true), exists_one: counting, map: collecting, filter: collecting
}

function itemsOf (range: Value): Items | Fault {
  if (range instanceof Items) return range
  if (range instanceof Fault) return range
  return typeof range === 'object' && range !== null && isDict(range)
    ? new List(range.keys())
    : new Fault('no such overload')
}

function * stepsOf (code: Code, frame: Frame): Steps<Value> {
  return isPlain(code) ? code.run(frame) : yield * code.steps(frame)
}

const constant = (value: Value): Code => ({ run: () => value })

function variable (name: string, scope: Scope): Code {
  const slot = scope.get(name)
  if (slot === undefined) return constant(new TypeValue(name))
  return {
    run: ({ slots, meter }) => {
      meter.spend(1)
      return slots[slot] ?? null
    }
  }
}

/** Evaluates all parts, up to the first error. */
function strict (parts: readonly Code[], apply: (values: readonly Value[], frame: Frame) => Value): Code {
  if (parts.every(isPlain)) {
    return {
      run: frame => {
        const values: Value[] = []
        for (const part of parts) {
          const value = part.run(frame)
          if (value instanceof Fault) return value
          values.push(value)
        }
        return apply(values, frame)
      }
    }
  }
  return {
    steps: function * (frame) {
      const values: Value[] = []
      for (const part of parts) {
        const value = yield * stepsOf(part, frame)
        if (value instanceof Fault) return value
        values.push(value)
      }
      return apply(values, frame)
    }
  }
}

function literalMap (values: readonly Value[], { meter }: Frame): Value {
  meter.spend(COST_OF_MAP)
  const entries = new Map<Key, Value>()
  for (let index = 0; index < values.length; index += 2) {
    const [key, value] = [values[index], values[index + 1] ?? null]
    const name = key instanceof Uint ? key.value : key
    if (typeof name !== 'string' && typeof name !== 'bigint' && typeof name !== 'boolean') {
      return new Fault('unsupported key type')
    }
    if (entries.has(name)) return new Fault(`Failed with repeated key: ${String(name)}`)
    entries.set(name, value)
  }
  return new Entries(entries)
}

const valueOf = (literal: Literal): Value => typeof literal !== 'object' || literal === null ||
  literal instanceof Uint8Array
  ? literal
  : new Uint(BigInt(literal.valueOf() as unknown as bigint))
