/** Evaluates the CEL rules of a schema on custom objects. */
import { fromJson, Given } from '../../expressions/from-json.js'
import { MAX_COST_OF_OBJECT } from '../../expressions/meter.js'
import { CostExceeded, type Outcome, type Program } from '../../expressions/program.js'
import { Fault } from '../../expressions/values.js'
import { Correlation } from '../api/apiextensions/correlation.js'
import { isObject } from '../language/values.js'
import { describe, type FieldError } from '../status.js'
import type { Steps } from '../steps.js'
import type { CompiledRule, Ruled } from './ruled.js'

/** What is found. A broken rule whose value is unchanged is forgiven. */
export interface Findings {
  readonly report: (error: FieldError) => void
  readonly forgive: (text: string) => void
  /** Unchanged values may break rules. */
  readonly ratchets: boolean
}

/** @param old undefined on create */
export function validateRules (
  ruled: Ruled, object: object, old: object | undefined, findings: Findings
): Steps<void> {
  const correlated = old === undefined ? undefined : new Correlation(ruled.schema, object, old)
  return new ObjectRules(findings).validate(ruled, object, { correlated, around: undefined }, '')
}

/** The rules of a default, as if it was sent: with itself as old value, and without one. */
export function * validateRulesOfDefault (
  ruled: Ruled, value: unknown, at: string, report: Findings['report']
): Steps<void> {
  for (const old of [new Correlation(ruled.schema, value, value), undefined]) {
    const findings = { report, forgive: () => undefined, ratchets: false }
    yield * new ObjectRules(findings).validate(ruled, value, { correlated: old, around: undefined }, at)
  }
}

/** Values between two yields. */
const VALUES_PER_YIELD = 200
const MAX_MESSAGE = 5120
const EXHAUSTED = 'running out of cost budget, no further validation rules will be run'
const IS_BUDGET = '\'operation cancelled: actual cost limit exceeded\''

/** A value's old self; without one, the next value around it that has one. */
interface Place { readonly correlated: Correlation | undefined, readonly around: Correlation | undefined }
const within = ({ correlated, around }: Place, inner: Correlation | undefined): Place =>
  ({ correlated: inner, around: correlated ?? around })

class ObjectRules {
  readonly #findings: Findings
  /** Negative once no further rule is evaluated. */
  #left = MAX_COST_OF_OBJECT
  #visited = 0

  constructor (findings: Findings) { this.#findings = findings }

  * validate (ruled: Ruled, value: unknown, place: Place, at: string): Steps<void> {
    if (value === null || value === undefined || this.#left < 0) return
    if (++this.#visited % VALUES_PER_YIELD === 0) yield
    for (const rule of ruled.rules) {
      if (this.#left < 0) return
      yield * this.#rule(rule, ruled, value, { ...place, at })
    }
    if (Array.isArray(value)) yield * this.#list(ruled, value, place, at)
    else if (isObject(value)) yield * this.#object(ruled, value, place, at)
  }

  * #rule (
    rule: CompiledRule, { schema, type: own }: Ruled, value: unknown, place: Place & { readonly at: string }
  ): Steps<void> {
    const { at, correlated } = place
    const { text, message, compiled, isOptional } = rule
    const refuse = (detail: string): void => { this.#refuse({ field: at, value: schema.type ?? '', detail }) }
    if (typeof compiled === 'string') return refuse(`rule compile error: ${compiled}`)
    const old = correlated?.old ?? undefined
    if (compiled.isTransition && old === undefined) return
    const words = message === '' ? text : message
    let outcome: Outcome
    try {
      outcome = yield * compiled.program.evaluate({ self: value, oldSelf: old })
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
      this.#left = -1
      return refuse(`${IS_BUDGET}: no further validation rules will be run due to call cost exceeds limit for rule: ` +
        words)
    }
    this.#left -= outcome.cost
    if (this.#left < 0) return refuse(`validation failed due to ${EXHAUSTED}`)
    const { value: result } = outcome
    if (result === true) return
    if (result instanceof Fault) {
      const { message: problem } = result
      return refuse(problem.startsWith('no such overload')
        ? `'${problem}': call arguments did not match a supported operator, function or macro signature for rule: ` +
          `${words}`
        : `${problem} evaluating rule: ${words}`)
    }
    const { messages, path, reason } = rule
    const field = path === '' ? at : at === '' ? path : `${at}.${path}`
    const given = messages === undefined
      ? undefined
      : yield * this.#message(messages, rule, {
        self: value, oldSelf: old === undefined ? NONE : isOptional ? new Given(fromJson(old, own)) : old
      })
    const detail = given?.text ?? (message === '' ? `failed rule: ${text}` : message)
    const type = given?.isFinal === true ? 'FieldValueInvalid' : reason
    this.#broken({ type, field, value: schema.type ?? '', detail }, !compiled.readsOld && isForgiven(place))
  }

  /** The message that an expression makes. Undefined if it makes none; final if the budget is spent. */
  * #message (
    program: Program, { messageText }: CompiledRule, values: Readonly<Record<string, unknown>>
  ): Steps<{ readonly text?: string, readonly isFinal?: boolean }> {
    let outcome: Outcome
    try {
      outcome = yield * program.evaluate(values)
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
      this.#left = -1
      return {
        isFinal: true, text: 'no further validation rules will be run due to call cost exceeds limit for ' +
          `messageExpression: ${JSON.stringify(messageText)}`
      }
    }
    this.#left -= outcome.cost
    if (this.#left < 0) return { isFinal: true, text: `messageExpression evaluation failed due to ${EXHAUSTED}` }
    const text = typeof outcome.value === 'string' ? outcome.value.trim() : ''
    return text === '' || /[\n\r]/.test(text) || Buffer.byteLength(text) > MAX_MESSAGE ? {} : { text }
  }

  #refuse (error: Pick<FieldError, 'field' | 'value' | 'detail'>): void {
    this.#broken({ type: 'FieldValueInvalid', ...error }, false)
  }

  #broken ({ type, field, value, detail }: FieldError, isForgiven: boolean): void {
    const isDuplicate = type === 'FieldValueDuplicate'
    const error: FieldError = {
      type, field: field === '' ? '<nil>' : field, detail: isDuplicate ? '' : detail,
      ...(isDuplicate || type === 'FieldValueInvalid' ? { value } : {})
    }
    if (isForgiven && this.#findings.ratchets) this.#findings.forgive(`${error.field}: ${describe(error)}`)
    else this.#findings.report(error)
  }

  * #list ({ items }: Ruled, list: readonly unknown[], place: Place, at: string): Steps<void> {
    if (items === undefined) return
    for (const [index, item] of list.entries()) {
      yield * this.validate(items, item, within(place, place.correlated?.item(index)), `${at}[${index}]`)
    }
  }

  * #object (
    { properties, values }: Ruled, object: Readonly<Record<string, unknown>>, place: Place, at: string
  ): Steps<void> {
    for (const [name, ruled] of properties) {
      if (!Object.hasOwn(object, name)) continue
      const below = at === '' ? name : `${at}.${name}`
      yield * this.validate(ruled, object[name], within(place, place.correlated?.member(name)), below)
    }
    if (values === undefined) return
    for (const [name, value] of Object.entries(object)) {
      yield * this.validate(values, value, within(place, place.correlated?.member(name)), `${at}[${name}]`)
    }
  }
}

const NONE = new Fault('no such attribute(s): oldSelf')

/** Whether a value, or if it has no old self what is around it, is unchanged. */
const isForgiven = ({ correlated, around }: Place): boolean => (correlated ?? around)?.isSame === true
