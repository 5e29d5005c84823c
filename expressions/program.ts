/**
 * A CEL expression, compiled once for the variables that it may read, and evaluated for their values. Definitions,
 * policies and configuration files declare variables of their own: the language knows none of them.
 */
import type { Steps } from '../schemas/steps.js'
import { checkRule } from './check.js'
import { compileRule } from './compile.js'
import { estimateCost } from './estimate.js'
import { fromJson } from './from-json.js'
import { Meter } from './meter.js'
import { parseRule, Problem } from './parse.js'
import type { Type } from './types.js'
import type { Value } from './values.js'

export { Problem } from './parse.js'
export { CostExceeded, Meter } from './meter.js'

/** The variables of an expression. Programs are kept with it, so share one among equal declarations. */
export class Environment {
  readonly variables: ReadonlyMap<string, Type>
  readonly #programs = new Map<string, Program | Problem>()

  constructor (variables: Readonly<Record<string, Type>>) { this.variables = new Map(Object.entries(variables)) }

  /** The program of a text, made once. @throws Problem */
  compile (text: string): Program {
    let known = this.#programs.get(text)
    if (known === undefined) {
      if (this.#programs.size >= MAX_PROGRAMS) this.#programs.clear()
      this.#programs.set(text, known = made(text, this.variables))
    }
    if (known instanceof Problem) throw known
    return known
  }
}
const MAX_PROGRAMS = 1000

export interface Outcome {
  /** A `Fault` if the expression cannot be evaluated. */
  readonly value: Value
  readonly cost: number
}

export interface Program {
  /** The type of the result; `dyn` if it is only known when the expression is evaluated. */
  readonly type: Type
  /** Whether the expression reads a variable. */
  readonly mentions: (variable: string) => boolean
  /** The estimated maximum cost of an evaluation, from the sizes that the types of variables allow. */
  readonly most: number
  /**
   * Evaluates the expression in steps, between which other work may run.
   * @param values JSON of the variables, converted by their types when the expression reads them. A variable without
   * value is null
   * @throws CostExceeded once the cost is above the limit of the meter
   */
  readonly evaluate: (values: Readonly<Record<string, unknown>>, meter?: Meter) => Steps<Outcome>
}

function made (text: string, variables: ReadonlyMap<string, Type>): Program | Problem {
  try {
    return program(text, variables)
  } catch (error) {
    if (error instanceof RangeError) return new Problem('expression recursion limit exceeded', text)
    if (error instanceof Problem) return error
    throw error
  }
}

function program (text: string, variables: ReadonlyMap<string, Type>): Program {
  const tree = parseRule(text)
  const { type, types, mentioned } = checkRule(text, tree, variables)
  const declared = [...variables]
  const code = compileRule(tree, new Map(declared.map(([name], slot) => [name, slot])))
  return {
    type, mentions: name => mentioned.has(name), most: estimateCost(tree, types),
    evaluate: function * (values, meter = new Meter()) {
      const before = meter.spent
      const slots = declared.map(([name, type]) => values[name] === undefined ? null : fromJson(values[name], type))
      const frame = { meter, slots }
      const value = code.run === undefined ? yield * code.steps(frame) : code.run(frame)
      return { value, cost: meter.spent - before }
    }
  }
}
