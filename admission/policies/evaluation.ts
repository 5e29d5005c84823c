/** Evaluates a policy with one binding and one parameter, up to the budgets of the public project. */
import { DeferredFields, toJson } from '../../expressions/from-json.js'
import { MAX_COST_OF_CONDITIONS, MAX_COST_OF_OBJECT } from '../../expressions/meter.js'
import { CostExceeded } from '../../expressions/program.js'
import { Problem } from '../../expressions/problem.js'
import { Deferred, Fault, type Value } from '../../expressions/values.js'
import type { Steps, WaitingSteps } from '../../schemas/steps.js'
import type { CheckError, ConditionsOf, PolicyObserver } from './observer.js'
import type { CheckedValidation, Compiled, Mutation, Named, Policy, ValidatingPolicy } from './policy.js'
import { extended, type Values } from './variables.js'

/** What all evaluations of a kind may cost together. */
export class Budget {
  #spent = 0
  constructor (readonly most: number) {}

  /** @throws CostExceeded */
  spend (cost: number): void {
    this.#spent += cost
    if (this.#spent > this.most) throw new CostExceeded()
  }
}

export interface Failure {
  /** The place of the validation in the policy; undefined for an error that is not of a validation. */
  readonly index: number | undefined
  readonly message: string
  readonly reason: string
  /** Why it could not be evaluated, which the failure policy judges. */
  readonly error: CheckError
  readonly seconds: number
}

/** Why an expression cannot be evaluated, in the words that clients get. */
export class EvaluationError extends Error {
  constructor (message: string, readonly kind: CheckError, options?: ErrorOptions) { super(message, options) }
}

const LONGEST_MESSAGE = 5120
const LONGEST_VALUE = 10_240
const OVER_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** @throws Error if the expression cannot be evaluated */
function * evaluate (program: Compiled, values: Values, budget: Budget): WaitingSteps<Value> {
  if (program instanceof Error) throw program
  const { value, cost } = yield * program.waiting(values)
  budget.spend(cost)
  if (value instanceof Fault) throw new Error(value.message)
  return value
}

/** The member `variables`, each evaluated when it is first read. */
function * withVariables ({ variables, compiling }: Policy, values: Values, budget: Budget): WaitingSteps<Values> {
  if (variables.length === 0) return values
  yield * compiling()
  const fields = new Map<string, Deferred>()
  const all = extended(values, { variables: new DeferredFields(fields) })
  for (const { name, program } of variables) {
    fields.set(name, new Deferred(function * (): WaitingSteps<Value> {
      if (program instanceof Error) return new Fault(program.message)
      const { value, cost } = yield * program.waiting(all)
      budget.spend(cost)
      return value instanceof Fault
        ? new Fault(`composited variable ${JSON.stringify(name)} fails to evaluate: ${value.message}`)
        : value
    } as () => Steps<Value> | WaitingSteps<Value>))
  }
  return all
}

/** Whether all conditions are true. A false one decides, even beside errors. @throws the first error */
export function * conditionsHold (
  conditions: readonly Named[], values: Values, of: ConditionsOf, observer: PolicyObserver | undefined
): WaitingSteps<boolean> {
  if (conditions.length === 0) return true
  const since = performance.now()
  const report = (errors: number, isExcluded: boolean): void => {
    observer?.conditions(of, (performance.now() - since) / 1000, errors, isExcluded)
  }
  const budget = new Budget(MAX_COST_OF_CONDITIONS)
  const inConditions = extended(values, { namespaceObject: null })
  let failure: Error | undefined
  let errors = 0
  for (const condition of conditions) {
    yield // each is compiled when it is first evaluated
    const { name, program } = condition
    try {
      if ((yield * evaluate(program, inConditions, budget)) === true) continue
      report(errors, true)
      return false
    } catch (error) {
      if (error instanceof CostExceeded) {
        report(errors, false)
        throw new Error(OVER_BUDGET, { cause: error })
      }
      errors++
      failure ??= new Error(`matchCondition ${name}: ${(error as Error).message}`, { cause: error })
    }
  }
  report(errors, false)
  if (failure !== undefined) throw failure
  return true
}

/** All validations that are false or fail, in order. */
export function * failuresOf (policy: ValidatingPolicy, values: Values): WaitingSteps<Failure[]> {
  const budget = new Budget(MAX_COST_OF_OBJECT)
  const all = yield * withVariables(policy, values, budget)
  const failures: Failure[] = []
  for (const [index, validation] of policy.validations.entries()) {
    yield // for the same reason
    const since = performance.now()
    const failed = (message: string, reason: string, error: CheckError): void => {
      failures.push({ index, message, reason, error, seconds: (performance.now() - since) / 1000 })
    }
    try {
      if ((yield * evaluate(validation.program, all, budget)) === true) continue
      failed(yield * messageOf(validation, all, budget), validation.reason, 'no_error')
    } catch (error) {
      const { message, kind } = problemOf(validation, error)
      failed(message, 'Invalid', kind)
      if (kind === 'out_of_budget') return failures
    }
  }
  return failures
}

/** What a mutation makes. @throws EvaluationError */
export function * madeBy (mutation: Mutation, policy: Policy, values: Values): WaitingSteps<Value> {
  const budget = new Budget(MAX_COST_OF_OBJECT)
  try {
    const all = yield * withVariables(policy, values, budget)
    return yield * evaluate(mutation.program, all, budget)
  } catch (error) {
    throw problemOf(mutation, error)
  }
}

function problemOf ({ expression }: { readonly expression: string }, cause: unknown): EvaluationError {
  if (cause instanceof CostExceeded) return new EvaluationError(OVER_BUDGET, 'out_of_budget', { cause })
  const { message } = cause as Error
  return cause instanceof Problem
    ? new EvaluationError(`compilation error: compilation failed: ${message}`, 'compile_error', { cause })
    : new EvaluationError(`expression '${expression}' resulted in error: ${message}`, 'invalid_error', { cause })
}

/** @throws CostExceeded */
function * messageOf (
  { messageProgram, message, expression }: CheckedValidation, values: Values, budget: Budget
): WaitingSteps<string> {
  const otherwise = message === '' ? `failed expression: ${expression}` : message
  if (messageProgram === undefined) return otherwise
  try {
    const value = yield * evaluate(messageProgram, values, budget)
    const text = typeof value === 'string' ? value.trim() : ''
    return text === '' || /[\r\n]/.test(text) || Buffer.byteLength(text) > LONGEST_MESSAGE ? otherwise : text
  } catch (error) {
    if (error instanceof CostExceeded) throw error
    return otherwise
  }
}

/** Annotations by key. @throws Error if one cannot be evaluated */
export function * annotationsOf (policy: ValidatingPolicy, values: Values): WaitingSteps<Map<string, string>> {
  const annotations = new Map<string, string>()
  if (policy.annotations.length === 0) return annotations
  const budget = new Budget(MAX_COST_OF_OBJECT)
  const all = yield * withVariables(policy, values, budget)
  for (const { name, program } of policy.annotations) {
    const value = toJson(yield * annotation(name, program, all, budget))
    if (value === null || value === undefined || value === '') continue
    if (typeof value !== 'string') throw new Error(`audit annotation ${name}: its value is no text`)
    annotations.set(name, value.trim().slice(0, LONGEST_VALUE))
  }
  return annotations
}

function * annotation (name: string, program: Compiled, values: Values, budget: Budget): WaitingSteps<Value> {
  try {
    return yield * evaluate(program, values, budget)
  } catch (error) {
    const why = error instanceof CostExceeded ? OVER_BUDGET : (error as Error).message
    throw new Error(`audit annotation ${name}: ${why}`, { cause: error })
  }
}
