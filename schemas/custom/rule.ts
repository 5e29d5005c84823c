/** A rule of a schema: compiled once, evaluated for each value of that schema. */
import { Environment, Problem, type Program } from '../../expressions/program.js'
import { optionalOf, type Type } from '../../expressions/types.js'
import { oncePer } from '../once-per.js'

export interface Rule {
  /** The rule compares the value with the old one, so it applies to updates only. */
  readonly isTransition: boolean
  /** Whether the rule reads the old value. */
  readonly readsOld: boolean
  /** `most` is the maximum cost of an evaluation. */
  readonly program: Program
}

/** The variables of rules for values of a type; the old value may be optional. */
const environmentsOf = oncePer((type: Type) => ({
  plain: new Environment({ self: type, oldSelf: type }, { root: type }),
  optional: new Environment({ self: type, oldSelf: optionalOf(type) }, { root: type })
}))

const environmentOf = (type: Type, isOptional: boolean): Environment =>
  environmentsOf(type)[isOptional ? 'optional' : 'plain']

/** @param type of the value @throws Problem */
export function readRule (text: string, type: Type, isOptional = false): Rule {
  const program = environmentOf(type, isOptional).compile(text)
  if (program.type.kind !== 'bool') throw new Problem('cel expression must evaluate to a bool', text)
  const readsOld = program.mentions('oldSelf')
  return { isTransition: readsOld && !isOptional, readsOld, program }
}

/** @param type of the value @throws Problem */
export function readMessage (text: string, type: Type, isOptional = false): Program {
  const program = environmentOf(type, isOptional).compile(text)
  if (program.type.kind !== 'string') throw new Problem('messageExpression must evaluate to a string', text)
  return program
}
