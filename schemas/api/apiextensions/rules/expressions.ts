/**
 * CEL rules of schemas. Their feature gate (CustomResourceValidationExpressions, alpha) is off by default; writes then
 * drop the rules, so that no definition promises validation that does not happen. With the gate, a definition's rules
 * have to compile, and may not cost too much.
 */
import type { Gates } from '../../../gates.js'
import type { Report } from '../../../language/declare.js'
import type { Steps } from '../../../steps.js'
import { forbidden, invalid } from '../../../rules/findings.js'
import { about, Problem } from '../../../../expressions/problem.js'
import { readMessage, readRule } from '../../../custom/rule.js'
import { MAX_REQUEST, sharedType } from '../../../custom/schema-types.js'
import { eachSchema, schemasOf, someSchema } from './schema-walk.js'
import type { CustomResourceDefinitionSpec } from '../customresourcedefinitions.js'
import { isSchema, RULES_GATE, type JSONSchemaProps as Schema, type ValidationRule } from '../schemas.js'
import type { Type } from '../../../../expressions/types.js'

const RULES = 'x-orch-validations'

/** The feature gate that forgives what updates do not change. */
export const RATCHETS_GATE = 'CRDValidationRatcheting'

export const areRulesOn = (gates: Gates): boolean => gates.enabled(RULES_GATE)

/** Whether the schema or any part of it has a rule. */
export const hasRule = (schema: Schema): boolean => someSchema(schema, part => (part[RULES] ?? []).length > 0)
export const hasRules = (spec: CustomResourceDefinitionSpec): boolean => schemasOf(spec).some(hasRule)

/** Removes CEL rules in place. */
export function withoutRules (spec: CustomResourceDefinitionSpec): void {
  for (const schema of schemasOf(spec)) {
    eachSchema(schema, part => { if (part[RULES] !== undefined) delete part[RULES] })
  }
}

/** Upstream's limits of the estimated cost, of one rule and of all rules of a schema. */
const MAX_COST = 10_000_000
const MAX_TOTAL = 100_000_000
const ADVICE =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are ' +
    'declared)'
/** The rules that an error of the total names. */
const MOST_EXPENSIVE = 4

function excess (what: string, cost: number, limit: number): string {
  const factor = cost / limit
  return `${what} exceeds budget by factor of ` +
    `${factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`} ${ADVICE}`
}

interface Place {
  /** How often a value can occur; undefined without a bound. */
  readonly times: number | undefined
  /** The list whose items cannot be found again after an update. */
  readonly uncorrelated?: string
}

/** Validates the rules of a valid schema, in steps. @param known what is known of the schema */
export function * validateRules (root: Schema, at: string, report: Report, known: Known): Steps<void> {
  if (!hasRule(root)) return
  const check = new RuleChecks(report, known)
  yield * check.schema(root, at, { times: 1 }, true)
  check.total(at)
}

export interface Known {
  /** The stored definition has the same schema. */
  readonly isKept: boolean
  /** Fields with errors; the rules of schemas around them are not compiled. */
  readonly wrong: readonly string[]
}

class RuleChecks {
  readonly #report: Report
  readonly #known: Known
  readonly #costs: Array<{ readonly at: string, readonly cost: number }> = []

  constructor (report: Report, known: Known) {
    this.#report = report
    this.#known = known
  }

  * schema (schema: Schema, at: string, place: Place, isRoot = false): Steps<void> {
    const { items, additionalProperties, maxItems, maxProperties, properties = {} } = schema
    yield * this.#rules(schema, at, place, isRoot)
    const times = (most: unknown): Pick<Place, 'times'> =>
      ({ times: place.times === undefined || most === undefined ? undefined : place.times * Math.max(0, Number(most)) })
    const within = schema['x-orch-map-type'] === 'atomic' ? { uncorrelated: at, ...place } : place
    if (isSchema(additionalProperties)) {
      yield * this.schema(additionalProperties, `${at}.additionalProperties`, { ...within, ...times(maxProperties) })
    }
    for (const [name, part] of Object.entries(properties)) {
      yield * this.schema(part, `${at}.properties[${name}]`, within)
    }
    if (!isSchema(items)) return
    yield * this.schema(items, `${at}.items`, {
      ...schema['x-orch-list-type'] === 'map' ? within : { uncorrelated: `${at}.items`, ...within }, ...times(maxItems)
    })
  }

  * #rules (schema: Schema, at: string, place: Place, isRoot: boolean): Steps<void> {
    const { [RULES]: rules = [], type: declared = '' } = schema
    if (rules.length === 0 || this.#known.wrong.some(field => field.startsWith(at))) return
    const type = sharedType(schema, isRoot || schema['x-orch-embedded-resource'] === true)
    if (type === undefined) {
      return invalid(
        this.#report, `${at}.${RULES}`, '',
        `rule declared on schema that does not support validation rules type: '${declared}' ` +
          `x-orch-preserve-unknown-fields: '${String(schema['x-orch-preserve-unknown-fields'] === true)}'`
      )
    }
    for (const [index, rule] of rules.entries()) {
      if ((rule.rule ?? '').trim() === '') continue
      yield
      if (!this.#rule(rule, type, `${at}.${RULES}[${index}]`, place)) continue
      yield
      this.#message(rule, type, `${at}.${RULES}[${index}].messageExpression`)
    }
  }

  /** False for a rule that does not compile; its message is not looked at then. */
  #rule (
    { rule = '', optionalOldSelf }: ValidationRule, type: Type, at: string, { times, uncorrelated }: Place
  ): boolean {
    const field = `${at}.rule`
    try {
      const { program: { most }, readsOld } = readRule(rule, type, optionalOldSelf === true)
      const values = times ?? Math.floor(MAX_REQUEST / ((type.least ?? 0) + 1))
      this.#costs.push({ at: field, cost: most === 0 ? 0 : most * values })
      this.#bound(field, 'estimated rule cost')
      if (readsOld && uncorrelated !== undefined) {
        invalid(
          this.#report, field, rule,
          `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`
        )
      }
      if (!readsOld) this.#oldSelf(optionalOldSelf, at)
      return true
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      invalid(this.#report, field, rule, problemOf(error))
      this.#oldSelf(optionalOldSelf, at)
      return false
    }
  }

  #oldSelf (optional: boolean | undefined, at: string): void {
    if (optional === undefined) return
    invalid(this.#report, `${at}.optionalOldSelf`, optional, 'may not be set if oldSelf is not used in rule')
  }

  #message ({ messageExpression = '', optionalOldSelf }: ValidationRule, type: Type, field: string): void {
    if (messageExpression.trim() === '') return
    try {
      const { most } = readMessage(messageExpression, type, optionalOldSelf === true)
      this.#costs.push({ at: field, cost: most })
      this.#bound(field, 'estimated messageExpression cost')
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      invalid(this.#report, field, messageExpression, problemOf(error, 'messageExpression'))
    }
  }

  /** Refuses the last estimate if it is too high, but not in a stored schema. */
  #bound (field: string, what: string): void {
    const cost = this.#costs.at(-1)?.cost ?? 0
    if (cost > MAX_COST && !this.#known.isKept) forbidden(this.#report, field, excess(what, cost, MAX_COST))
  }

  /** Reports that all rules together are too expensive. */
  total (at: string): void {
    const total = this.#costs.reduce((sum, { cost }) => sum + cost, 0)
    if (total <= MAX_TOTAL) return
    const expensive = this.#costs.filter(({ cost }) => cost >= MAX_TOTAL / 100)
      .sort((one, other) => other.cost - one.cost)
      .slice(0, MOST_EXPENSIVE)
    for (const { at: field } of expensive) {
      forbidden(
        this.#report, field, 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
      )
    }
    forbidden(
      this.#report, at, excess(`${RULES} estimated rule cost total for entire OpenAPIv3 schema`, total, MAX_TOTAL)
    )
  }
}

const problemOf = ({ message, problem, at, subject }: Problem, of?: string): string => at === undefined
  ? about(subject === undefined ? undefined : of ?? subject, problem)
  : about(of, `compilation failed: ${message}`)
