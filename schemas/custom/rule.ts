/** A rule of a schema: compiled once, evaluated for each value of that schema. */
import { Environment, type Outcome } from '../../expressions/program.js'
import type { Type } from '../../expressions/types.js'
import type { Steps } from '../steps.js'

export interface Rule {
  /** The rule compares the value with the old one, so it applies to updates only. */
  readonly isTransition: boolean
  /** The maximum cost of an evaluation. */
  readonly most: number
  /** @throws CostExceeded */
  readonly evaluate: (self: unknown, oldSelf: unknown) => Steps<Outcome>
}

/** The result of a rule is not a bool. */
export class NotBoolean extends Error {}

/** @param type of the value @throws Problem, NotBoolean */
export function readRule (text: string, type: Type): Rule {
  const { type: { kind }, mentions, most, evaluate } = new Environment({ self: type, oldSelf: type }).compile(text)
  if (kind !== 'bool') throw new NotBoolean('cel expression must evaluate to a bool')
  return { isTransition: mentions('oldSelf'), most, evaluate: (self, oldSelf) => evaluate({ self, oldSelf }) }
}
