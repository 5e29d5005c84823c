/** A rule of a schema: compiled once, evaluated for each value of that schema. */
import type { Steps } from '../steps.js'
import { checkRule } from './check.js'
import { compileRule, type Code } from './compile.js'
import { estimateCost } from './estimate.js'
import { fromJson } from './from-json.js'
import { CostExceeded, Meter } from './meter.js'
import { parseRule, RuleProblem } from './parse.js'
import type { Type } from './types.js'
import type { Value } from './values.js'

export { RuleProblem } from './parse.js'

const PLACES = new Map([['self', 0], ['oldSelf', 1]])

export interface Outcome {
  /** True if the value is valid. */
  readonly value: Value
  readonly cost: number
}

export interface Rule {
  /** The rule compares the value with the old one, so it applies to updates only. */
  readonly isTransition: boolean
  /** The maximum cost of an evaluation. */
  readonly most: number
  /** @throws CostExceeded */
  readonly evaluate: (self: unknown, oldSelf: unknown) => Steps<Outcome>
}

/** @param type of the value @throws RuleProblem */
export function readRule (text: string, type: Type): Rule {
  const tree = parseRule(text)
  try {
    const { type: result, types, usesOld } = checkRule(text, tree, new Map([['self', type], ['oldSelf', type]]))
    if (result.kind !== 'bool') throw new NotBoolean('cel expression must evaluate to a bool')
    return {
      isTransition: usesOld, most: estimateCost(tree, types), evaluate: evaluator(compileRule(tree, PLACES), type)
    }
  } catch (error) {
    if (error instanceof RangeError) throw new RuleProblem('expression recursion limit exceeded', text)
    throw error
  }
}

/** The result of a rule is not a bool. */
export class NotBoolean extends Error {}

const evaluator = (code: Code, type: Type): Rule['evaluate'] => function * (self, oldSelf) {
  const meter = new Meter()
  const frame = { meter, slots: [fromJson(self, type), oldSelf === undefined ? null : fromJson(oldSelf, type)] }
  const value = code.run === undefined ? yield * code.steps(frame) : code.run(frame)
  return { value, cost: meter.spent }
}

export { CostExceeded }
