/** Validation of expressions: they are compiled; what they may cost is not estimated. */
import { Problem, type Environment } from '../../../../expressions/program.js'
import { BOOL, NULL, typeName, type Type } from '../../../../expressions/types.js'
import type { Report } from '../../../language/types.js'
import { qualifiedName } from '../../../names.js'
import { checkName, duplicate, invalid, required, tooMany } from '../../../rules/findings.js'
import type { Steps } from '../../../steps.js'
import type { MatchCondition } from '../match-condition.js'

const MOST_CONDITIONS = 64

const nameOf = (type: Type): string => type.kind === NULL.kind ? NULL.kind : typeName(type)

/** @param types of results that are allowed; default any */
export function compiled (
  environment: Environment, expression: string, at: string, report: Report, types?: readonly Type[]
): Type | undefined {
  try {
    const { type } = environment.compile(expression)
    const names = types?.map(nameOf)
    if (names === undefined || names.includes(nameOf(type))) return type
    invalid(
      report, at, expression, `must evaluate to ${names.length === 1 ? names.join('') : `one of [${names.join(' ')}]`}`
    )
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    invalid(report, at, expression, `compilation failed: ${error.message}`)
  }
  return undefined
}

export function * validateConditions (
  conditions: readonly MatchCondition[], environment: Environment, at: string, report: Report
): Steps<void> {
  if (conditions.length > MOST_CONDITIONS) tooMany(report, at, conditions.length, MOST_CONDITIONS)
  const names = new Set<string>()
  for (const [index, { name, expression }] of conditions.entries()) {
    const path = `${at}[${index}]`
    if (expression.trim() === '') required(report, `${path}.expression`)
    else compiled(environment, expression.trim(), `${path}.expression`, report, [BOOL])
    if (name === '') required(report, `${path}.name`)
    else {
      checkName(report, `${path}.name`, name, qualifiedName)
      if (names.has(name)) duplicate(report, `${path}.name`, name)
    }
    names.add(name)
    yield
  }
}
