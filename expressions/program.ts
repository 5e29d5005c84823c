/**
 * A CEL expression, compiled once for the variables that it may read, and evaluated for their values. Definitions,
 * policies and configuration files declare variables of their own: the language knows none of them.
 */
import type { Steps, WaitingSteps } from '../schemas/steps.js'
import { check, type Declared } from './check.js'
import { compile } from './compile.js'
import { estimate } from './estimate.js'
import { fromJson } from './from-json.js'
import { Meter } from './meter.js'
import { parse } from './parse.js'
import { settled } from './pending.js'
import { Problem } from './problem.js'
import type { Type } from './types.js'
import type { Value } from './values.js'

export { CostExceeded, Meter } from './meter.js'
export { Problem } from './problem.js'

export interface Options {
  /**
   * The types of objects that expressions may make, by name: `Object{...}`. One without fields stands for those below
   * it too: `Object.spec{...}`.
   */
  readonly structs?: Readonly<Record<string, Type>>
  /** Functions and macros beyond those of every environment. */
  readonly functions?: ReadonlyArray<'jsonpatch.escapeKey' | 'includes' | 'cel.bind'>
  /** The type that gives the sizes of what is read, whatever the variable. Default: sizes are unknown. */
  readonly root?: Type
}

/** The variables of expressions. Programs are kept with it, so share one among equal declarations. */
export class Environment {
  readonly #declared: Declared
  readonly #root: Type | undefined
  readonly #binds: boolean
  readonly #programs = new Map<string, Program | Problem>()

  /** @param variables by name, which may have a dot: `authorizer.requestResource` */
  constructor (variables: Readonly<Record<string, Type>>, { structs = {}, functions = [], root }: Options = {}) {
    this.#declared = {
      variables: new Map(Object.entries(variables)), structs: new Map(Object.entries(structs)),
      functions: new Set(functions.map(name => name === 'includes' ? '.includes' : name))
    }
    this.#root = root
    this.#binds = functions.includes('cel.bind')
  }

  /** The program of a text, made once. @throws Problem */
  compile (text: string): Program {
    let known = this.#programs.get(text)
    if (known === undefined) {
      if (this.#programs.size >= MAX_PROGRAMS) this.#programs.clear()
      this.#programs.set(text, known = this.#made(text))
    }
    if (known instanceof Problem) throw known
    return known
  }

  #made (text: string): Program | Problem {
    try {
      const tree = parse(text, this.#binds)
      const { type, mentioned } = check(text, tree, this.#declared)
      const declared = [...this.#declared.variables]
      const read = declared.flatMap(([name, type], slot) => mentioned.has(name) ? [{ name, type, slot }] : [])
      const code = compile(tree, new Map(declared.map(([name], slot) => [name, slot])))
      const run = function * (values: Values, meter = new Meter()): WaitingSteps<Outcome> {
        const before = meter.spent
        const slots = new Array<Value>(declared.length).fill(null)
        for (const { name, type, slot } of read) {
          const value = values[name]
          slots[slot] = value === undefined && type.kind !== 'optional' ? null : fromJson(value, type)
        }
        const frame = { meter, slots }
        const value = yield * settled(code.run(frame))
        return { value, cost: meter.spent - before }
      }
      return {
        type, mentions: name => mentioned.has(name), most: estimate(tree, this.#root),
        evaluate: run as Program['evaluate'], // without authorizer nothing waits
        waiting: run
      }
    } catch (error) {
      if (error instanceof RangeError) return new Problem('expression recursion limit exceeded', text, 0)
      if (error instanceof Problem) return error
      throw error
    }
  }
}
const MAX_PROGRAMS = 1000

export interface Outcome {
  /** A `Fault` if the expression cannot be evaluated. */
  readonly value: Value
  readonly cost: number
}

/**
 * JSON of the variables, or values; what an expression does not read is neither asked for nor converted. Default null.
 */
type Values = Readonly<Record<string, unknown>>

export interface Program {
  /** The type of the result; `dyn` if it is only known when the expression is evaluated. */
  readonly type: Type
  /** Whether the expression reads a variable. */
  readonly mentions: (variable: string) => boolean
  /** The estimated maximum cost of an evaluation, from the sizes that types allow. */
  readonly most: number
  /**
   * Evaluates the expression in steps, between which other work may run. For variables without authorizer.
   * @throws CostExceeded once the cost is above the limit of the meter
   */
  readonly evaluate: (values: Values, meter?: Meter) => Steps<Outcome>
  /** The same for any variables: an authorizer may be waited for. */
  readonly waiting: (values: Values, meter?: Meter) => WaitingSteps<Outcome>
}
