/** Compiles a checked tree into functions. Parts with loops run in steps, so that they do not hold the event loop. */
import { waitFor, type WaitingSteps } from '../schemas/steps.js'
import { Check } from './authorizer.js'
import {
  COST_OF_LIST, COST_OF_MAP, COST_OF_STRUCT, costOfCall, costOfResult, COSTS_BY_RESULT
} from './costs.js'
import { COSTS, FOLDS, put, rangeOf } from './folds.js'
import { functions } from './functions.js'
import type { Meter } from './meter.js'
import { later, Pending, started } from './pending.js'
import {
  constant, qualifiedName, Unsigned, type Bind, type Call, type Choice, type Entry, type Field, type Fold, type ListOf,
  type Literal, type Logic, type Node, type Select
} from './syntax.js'
import { typeNamed } from './types.js'
import {
  Deferred, Entries, Fault, isDict, List, Optional, orFault, TypeValue, Uint, type Key, type Value
} from './values.js'

/** The values of the variables by slot, and the cost of the evaluation. */
export interface Frame { readonly slots: Value[], readonly meter: Meter }

export interface Code {
  readonly run: (frame: Frame) => Value | Pending<Value>
  /** Of what has the same value each time. */
  readonly always?: Value
}

/** Of a text; what upstream charges does not always grow with it. */
const UNITS_PER_WORK = 200
const NO_OVERLOAD = new Fault('no such overload')

/** The slot of each variable. */
type Scope = ReadonlyMap<string, number>

export function compile (node: Node, scope: Scope): Code { return new Compiler(scope.size).compile(node, scope) }

/** Of a literal: made once. */
const CONVERSIONS: ReadonlySet<string> = new Set([
  'bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'type', 'uint'
])
const ACCESSES: ReadonlySet<string> = new Set(['_[_]', '_[?_]', '_?._'])

class Compiler {
  #slots: number
  /** Macros repeat their operand. */
  readonly #known = new Map<Node, Code>()

  constructor (slots: number) { this.#slots = slots }

  compile (node: Node, scope: Scope): Code {
    let code = this.#known.get(node)
    if (code === undefined) this.#known.set(node, code = this.#compile(node, scope))
    return code
  }

  #compile (node: Node, scope: Scope): Code {
    switch (node.op) {
      case 'constant': return always(valueOf(node.value))
      case 'name': return variable(node.name, scope, 1)
      case 'select': return this.#select(node, this.#accessed(node.of, scope), scope)
      case 'call': return this.#call(node, scope)
      case 'logic': return this.#logic(node, scope)
      case 'choice': return this.#choice(node, scope)
      case 'list': return this.#list(node, scope)
      case 'map': return this.#entries(node.entries, COST_OF_MAP, scope)
      case 'struct': return this.#entries(node.fields, COST_OF_STRUCT, scope, node.name)
      case 'fold': return this.#fold(node, scope)
      case 'bind': return this.#bind(node, scope)
    }
  }

  #select (node: Select, of: Code, scope: Scope): Code {
    const { field, test } = node
    const name = qualifiedName(node) ?? ''
    const slot = scope.get(name)
    if (slot !== undefined) return variable(name, scope, 2)
    if (typeNamed(name) !== undefined && node.type?.kind === 'type') return always(new TypeValue(name))
    const select = ([value = null]: readonly Value[], { meter }: Frame): Value => {
      if (!test) meter.spend(1)
      return selected(value, field, test)
    }
    if (node.of.type?.deferred !== true) return strict([of], select)
    return strict([of], (values, frame) => {
      const member = select(values, frame)
      return member instanceof Deferred ? new Pending(member.value()) : member
    })
  }

  #call (node: Call, scope: Scope): Code {
    const { name, target, args, qualified } = node
    const receiver = target === undefined || qualified !== undefined ? [] : [target]
    const key = qualified ?? (target === undefined ? name : `.${name}`)
    if (ACCESSES.has(key)) return this.#access(node, this.#accessed(args[0] as Node, scope), scope) // as parsed
    const parts = [...receiver, ...args].map(part => this.compile(part, scope))
    if (key === '.or' || key === '.orValue') return alternative(parts, key === '.or')
    if (key === '@in' && args[1]?.op === 'list' && args[1].items.length === 0) return always(false)
    return this.#applied(key, parts)
  }

  /** What something is accessed of. As upstream, all but variables, accesses and choices cost one more there. */
  #accessed (node: Node, scope: Scope): Code {
    const code = this.compile(node, scope)
    if (node.op === 'name' || node.op === 'choice' || isAccess(node)) return code
    return {
      ...code,
      run: frame => {
        frame.meter.spend(1)
        return code.run(frame)
      }
    }
  }

  /** @param of the first operand */
  #access ({ name, args }: Call, of: Code, scope: Scope): Code {
    return this.#applied(name, [of, this.#branch(args[1] as Node, scope)]) // as parsed
  }

  #applied (key: string, parts: readonly Code[]): Code {
    const apply = functions.get(key)
    const within = key === '@in' && isSimple(parts[1]?.always)
    const always = parts[0]?.always
    if (CONVERSIONS.has(key) && always !== undefined && apply !== undefined) {
      let value: Value | undefined
      // Conversions are not pending.
      return { run: ({ meter }) => value ??= orFault(apply([always], meter) as Value | undefined, NO_OVERLOAD.message) }
    }
    if (key === '.check') {
      return strict(parts, ([of = null, verb], { meter }) => {
        meter.spend(costOfCall(key, []))
        return of instanceof Check && typeof verb === 'string' ? new Pending(waitFor(of.check(verb))) : NO_OVERLOAD
      })
    }
    const byResult = COSTS_BY_RESULT.has(key)
    return strict(parts, (values, { meter }) => {
      const [first] = values
      if (typeof first === 'string') meter.work(first.length / UNITS_PER_WORK)
      if (!within && !byResult) meter.spend(costOfCall(key, values))
      const result = apply?.(values, meter)
      if (result instanceof Pending) return result.into(value => orFault(value, NO_OVERLOAD.message))
      const value = orFault(result, NO_OVERLOAD.message)
      if (byResult) meter.spend(costOfResult(value))
      return meter.isDue ? new Pending(later(value)) : value
    })
  }

  #list ({ items, optional }: ListOf, scope: Scope): Code {
    const parts = items.map(item => this.compile(item, scope))
    const isOptional = items.map(item => optional.has(item))
    const make = (values: readonly Value[]): Value => {
      if (optional.size === 0) return new List(values)
      const present: Value[] = []
      for (const [index, value] of values.entries()) {
        if (isOptional[index] !== true) present.push(value)
        else if (!(value instanceof Optional)) return NO_OVERLOAD
        else if (value.value !== undefined) present.push(value.value)
      }
      return new List(present)
    }
    if (areConstant(parts)) return always(make(parts.map(({ always = null }) => always)))
    return strict(parts, (values, { meter }) => {
      meter.spend(COST_OF_LIST)
      return make(values)
    })
  }

  #entries (entries: ReadonlyArray<Entry | Field>, cost: number, scope: Scope, struct?: string): Code {
    const parts = entries.flatMap(entry =>
      [this.compile('key' in entry ? entry.key : constant(entry.name, entry.at), scope),
        this.compile(entry.value, scope)])
    const make = (values: readonly Value[]): Value => {
      const members = new Map<Key, Value>()
      for (const [index, { optional }] of entries.entries()) {
        const [key = null, value = null] = [values[2 * index], values[2 * index + 1]]
        if (optional && !(value instanceof Optional)) return NO_OVERLOAD
        const held = optional && value instanceof Optional ? value.value : value
        const fault = held === undefined ? undefined : put(members, key, held)
        if (fault !== undefined) return fault
      }
      return new Entries(members, struct)
    }
    if (struct === undefined && areConstant(parts)) return always(make(parts.map(({ always = null }) => always)))
    return strict(parts, (values, { meter }) => {
      meter.spend(cost)
      return make(values)
    })
  }

  /** A part of a choice, or an index: as upstream, what it accesses something of costs no more than its value. */
  #branch (node: Node, scope: Scope): Code {
    if (node.op === 'name') return variable(node.name, scope, 0)
    if (!isAccess(node)) return this.compile(node, scope)
    return node.op === 'select'
      ? this.#select(node, this.#branch(node.of, scope), scope)
      : this.#access(node, this.#branch(node.args[0] as Node, scope), scope) // as parsed
  }

  #choice ({ args: [condition, yes, no] }: Choice, scope: Scope): Code {
    const [test, left, right] = [
      this.compile(condition, scope), this.#branch(yes, scope), this.#branch(no, scope)
    ]
    const decide = (holds: Value, frame: Frame): Value | Pending<Value> => typeof holds === 'boolean'
      ? (holds ? left : right).run(frame)
      : holds instanceof Fault ? holds : NO_OVERLOAD
    return {
      run: frame => {
        const holds = test.run(frame)
        return holds instanceof Pending ? holds.into(value => decide(value, frame)) : decide(holds, frame)
      }
    }
  }

  #logic ({ decisive, args }: Logic, scope: Scope): Code {
    const parts = args.map(part => this.compile(part, scope))
    /** An operand that decides alone makes errors of others not matter. */
    const outcome = (value: Value, sofar: Value | undefined): Value | undefined =>
      value === !decisive ? sofar : sofar ?? (value instanceof Fault ? value : NO_OVERLOAD)
    const from = (first: number, frame: Frame, sofar?: Value): Value | Pending<Value> => {
      let fault = sofar
      for (let index = first; index < parts.length; index++) {
        const value = parts[index]?.run(frame) ?? null
        if (value instanceof Pending) {
          const before = fault
          return value.into(value => value === decisive ? value : from(index + 1, frame, outcome(value, before)))
        }
        if (value === decisive) return decisive
        fault = outcome(value, fault)
      }
      return fault ?? !decisive
    }
    return { run: frame => from(0, frame) }
  }

  #bind ({ name, value, body }: Bind, scope: Scope): Code {
    const [bound, slot] = [this.compile(value, scope), this.#slots++]
    const inner = this.compile(body, new Map(scope).set(name, slot))
    return strict([bound], ([held = null], frame) => {
      frame.slots[slot] = held
      return inner.run(frame)
    })
  }

  #fold ({ kind, range, names: [one, other], test, result }: Fold, scope: Scope): Code {
    const [over, first, second] = [this.compile(range, scope), this.#slots++, this.#slots++]
    const inner = new Map(scope).set(one, first)
    if (other !== undefined) inner.set(other, second)
    const condition = test === undefined ? undefined : this.compile(test, inner)
    const compiled = result === undefined ? undefined : this.compile(result, inner)
    const costs = COSTS[kind]
    const steps = function * (range: Value, frame: Frame): WaitingSteps<Value> {
      const { slots, meter } = frame
      const items = rangeOf(range, other !== undefined)
      if (items instanceof Fault) return items
      const { step, end } = FOLDS[kind]()
      for (let index = 0; index < items.size; index++) {
        if (meter.isDue) yield
        meter.work(1)
        const key = items.first(index)
        if (key instanceof Fault) return key
        slots[first] = key
        if (other !== undefined) slots[second] = items.second(index)
        meter.spend(costs.condition)
        let holds = condition === undefined ? true : condition.run(frame)
        if (holds instanceof Pending) holds = yield * holds.steps
        let value = holds !== true || compiled === undefined ? null : compiled.run(frame)
        if (value instanceof Pending) value = yield * value.steps
        meter.spend(holds === true ? costs.step : costs.skipped)
        const ended = step(holds, value, key)
        if (ended === undefined) continue
        // It is seen before the next item.
        meter.spend((index + 1 < items.size ? costs.condition : 0) + costs.result)
        return ended
      }
      meter.spend(costs.result)
      return end()
    }
    return strict([over], ([range = null], frame) => started(steps(range, frame)))
  }
}

const isAccess = (node: Node): node is Select | Call =>
  node.op === 'select' ? !node.test : node.op === 'call' && ACCESSES.has(node.name)

const always = (value: Value): Code => ({ run: () => value, always: value })
const areConstant = (parts: readonly Code[]): parts is Array<Code & { always: Value }> =>
  parts.every(part => part.always !== undefined && !(part.always instanceof Fault))

/** A list of constants of one simple type. */
function isSimple (list: Value | undefined): boolean {
  if (!(list instanceof List)) return false
  const [first] = list.items
  return ['boolean', 'bigint', 'number', 'string'].includes(typeof first) &&
    list.items.every(item => typeof item === typeof first)
}

/** The member of a value, or with `test` whether it has one. */
export function selected (value: Value, field: string, test: boolean): Value {
  if (value instanceof Optional) {
    const member = value.value === undefined ? undefined : selected(value.value, field, true)
    if (member instanceof Fault) return member
    if (test) return member === true
    return member === true ? new Optional(selected(value.value ?? null, field, false)) : new Optional()
  }
  if (typeof value !== 'object' || value === null || !isDict(value)) return NO_OVERLOAD
  const member = value.get(field)
  return test ? member !== undefined : orFault(member, `no such key: ${field}`)
}

/** `or` and `orValue` evaluate what they take only if they need it. */
function alternative ([of, other]: readonly Code[], isOptional: boolean): Code {
  return strict(of === undefined ? [] : [of], ([value = null], frame) => {
    if (!(value instanceof Optional)) return NO_OVERLOAD
    if (value.value !== undefined) return isOptional ? value : value.value
    return other?.run(frame) ?? NO_OVERLOAD
  })
}

function variable (name: string, scope: Scope, cost: number): Code {
  const slot = scope.get(name)
  if (slot === undefined) return always(new TypeValue(name))
  return {
    run: ({ slots, meter }) => {
      meter.spend(cost)
      return slots[slot] ?? null
    }
  }
}

/** Evaluates all parts, up to the first error. */
function strict (
  parts: readonly Code[], apply: (values: readonly Value[], frame: Frame) => Value | Pending<Value>
): Code {
  const proceed = (values: Value[], frame: Frame): Value | Pending<Value> => {
    while (values.length < parts.length) {
      const value = parts[values.length]?.run(frame) ?? null
      if (value instanceof Pending) return value.into(value => after(values, value, frame))
      if (value instanceof Fault) return value
      values.push(value)
    }
    return apply(values, frame)
  }
  const after = (values: Value[], value: Value, frame: Frame): Value | Pending<Value> => {
    if (value instanceof Fault) return value
    values.push(value)
    return proceed(values, frame)
  }
  return { run: frame => proceed([], frame) }
}

const valueOf = (literal: Literal): Value => literal instanceof Unsigned ? new Uint(literal.value) : literal
