/** Validation of expressions: they are compiled; what they may cost is not estimated. */
import { Problem, type Environment } from '../../../../expressions/program.js'
import type { Type } from '../../../../expressions/types.js'
import type { Report } from '../../../language/types.js'
import { qualifiedName } from '../../../names.js'
import { checkName, duplicate, invalid, required, tooMany } from '../../../rules/findings.js'
import type { MatchCondition } from '../match-condition.js'

const MOST_CONDITIONS = 64

/** @param kinds of results that are allowed; default any */
export function compiled (
  environment: Environment, expression: string, at: string, report: Report, kinds?: readonly Type['kind'][]
): Type | undefined {
  try {
    const { type } = environment.compile(expression)
    if (kinds === undefined || kinds.includes(type.kind)) return type
    invalid(report, at, expression, `must evaluate to ${kinds.join(' or ')}`)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    invalid(report, at, expression, `compilation failed: ${error.message}`)
  }
  return undefined
}

export function validateConditions (
  conditions: readonly MatchCondition[], environment: Environment, at: string, report: Report
): void {
  if (conditions.length > MOST_CONDITIONS) tooMany(report, at, conditions.length, MOST_CONDITIONS)
  const names = new Set<string>()
  for (const [index, { name, expression }] of conditions.entries()) {
    const path = `${at}[${index}]`
    if (name === '') required(report, `${path}.name`)
    else if (names.has(name)) duplicate(report, `${path}.name`, name)
    else checkName(report, `${path}.name`, name, qualifiedName)
    names.add(name)
    if (expression.trim() === '') required(report, `${path}.expression`)
    else compiled(environment, expression, `${path}.expression`, report, ['bool'])
  }
}
