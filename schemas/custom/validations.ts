/** Evaluates the CEL rules of a schema on custom objects. */
import { isSchema, type JSONSchemaProps as Schema } from '../api/apiextensions/schemas.js'
import { hasRule } from '../api/apiextensions/rules/expressions.js'
import { MAX_COST_OF_OBJECT } from '../../expressions/meter.js'
import { CostExceeded, Problem, type Outcome } from '../../expressions/program.js'
import { Fault } from '../../expressions/values.js'
import { sortedJson } from '../codec/json/escape.js'
import type { Report } from '../language/types.js'
import { invalid } from '../rules/findings.js'
import type { Steps } from '../steps.js'
import { keysOf } from './list-keys.js'
import { readRule, type Rule } from './rule.js'
import { sharedType } from './schema-types.js'
import { isObject } from '../language/values.js'

/** A schema with rules of its own, or with rules in its parts. */
interface Ruled {
  readonly schema: Schema
  readonly rules: ReadonlyArray<{ readonly text: string, readonly message: string, readonly compiled: Rule | string }>
  readonly items: Ruled | undefined
  readonly values: Ruled | undefined
  readonly properties: ReadonlyMap<string, Ruled>
}

/** Compiles the rules of a schema, in steps. Undefined if there are none. */
export function * compileRules (root: Schema): Steps<Ruled | undefined> {
  return hasRule(root) ? yield * compiled(root, true) : undefined
}

function * compiled (schema: Schema, isRoot: boolean): Steps<Ruled | undefined> {
  if (!hasRule(schema)) return undefined
  yield
  const { 'x-orch-validations': declared = [] } = schema
  const [rules, properties] = [[] as Array<Ruled['rules'][number]>, new Map<string, Ruled>()]
  const type = declared.length === 0
    ? undefined
    : sharedType(schema, isRoot || schema['x-orch-embedded-resource'] === true)
  for (const { rule = '', message = '' } of declared) {
    const text = rule.trim()
    if (text === '' || type === undefined) continue
    try {
      rules.push({ text, message: message.trim(), compiled: readRule(rule, type) })
    } catch (error) {
      rules.push({ text, message: message.trim(), compiled: (error as Problem).message })
    }
    yield
  }
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    const ruled = yield * compiled(part, false)
    if (ruled !== undefined) properties.set(name, ruled)
  }
  const { items, additionalProperties } = schema
  return {
    schema, rules, properties,
    items: isSchema(items) ? yield * compiled(items, false) : undefined,
    values: isSchema(additionalProperties) ? yield * compiled(additionalProperties, false) : undefined
  }
}

/** @param old undefined on create */
export function validateRules (ruled: Ruled, object: object, old: object | undefined, report: Report): Steps<void> {
  return new ObjectRules(report).validate(ruled, object, old, '')
}

/** Values between two yields. */
const VALUES_PER_YIELD = 200

class ObjectRules {
  readonly #report: Report
  /** Negative once no further rule is evaluated. */
  #left = MAX_COST_OF_OBJECT
  #visited = 0

  constructor (report: Report) { this.#report = report }

  * validate (ruled: Ruled, value: unknown, old: unknown, at: string): Steps<void> {
    if (value === null || value === undefined || this.#left < 0) return
    if (++this.#visited % VALUES_PER_YIELD === 0) yield
    if (ruled.rules.length > 0) {
      const { type = '' } = ruled.schema
      const refuse = (detail: string): void => { invalid(this.#report, at === '' ? '<nil>' : at, type, detail) }
      for (const rule of ruled.rules) if (this.#left >= 0) yield * this.#rule(rule, value, old ?? undefined, refuse)
    }
    if (Array.isArray(value)) yield * this.#list(ruled, value, Array.isArray(old) ? old : [], at)
    else if (isObject(value)) yield * this.#object(ruled, value, isObject(old) ? old : {}, at)
  }

  * #rule (
    { text, message, compiled }: Ruled['rules'][number], value: unknown, old: unknown, refuse: (detail: string) => void
  ): Steps<void> {
    const words = message === '' ? text : message
    if (typeof compiled === 'string') return refuse(`rule compile error: ${compiled}`)
    if (compiled.isTransition && old === undefined) return
    let outcome: Outcome
    try {
      outcome = yield * compiled.program.evaluate({ self: value, oldSelf: old })
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
      this.#left = -1
      return refuse('\'operation cancelled: actual cost limit exceeded\': no further validation rules will be run ' +
        'due ' +
        `to call cost exceeds limit for rule: ${words}`)
    }
    this.#left -= outcome.cost
    if (this.#left < 0) {
      return refuse('validation failed due to running out of cost budget, no further validation rules will be run')
    }
    const { value: result } = outcome
    if (result instanceof Fault) {
      const { message: problem } = result
      return refuse(problem.startsWith('no such overload')
        ? `'${problem}': call arguments did not match a supported operator, function or macro signature for rule: ` +
          `${words}`
        : `${problem} evaluating rule: ${words}`)
    }
    if (result !== true) refuse(message === '' ? `failed rule: ${text}` : message)
  }

  /** Items are correlated with old ones by their keys, if they have some. */
  * #list ({ items, schema }: Ruled, list: readonly unknown[], old: readonly unknown[], at: string): Steps<void> {
    if (items === undefined) return
    const { 'x-orch-list-type': listType, 'x-orch-list-map-keys': keys = [] } = schema
    const identity = (item: unknown): string => sortedJson(keysOf(schema.items, item, keys))
    const known = listType === 'map' ? new Map(old.map(item => [identity(item), item])) : undefined
    for (const [index, item] of list.entries()) {
      yield * this.validate(items, item, known?.get(identity(item)), `${at}[${index}]`)
    }
  }

  * #object (
    { properties, values }: Ruled, object: Readonly<Record<string, unknown>>, old: Readonly<Record<string, unknown>>,
    at: string
  ): Steps<void> {
    const before = (name: string): unknown => Object.hasOwn(old, name) ? old[name] : undefined
    for (const [name, ruled] of properties) {
      if (Object.hasOwn(object, name)) {
        yield * this.validate(ruled, object[name], before(name), at === '' ? name : `${at}.${name}`)
      }
    }
    if (values === undefined) return
    for (const [name, value] of Object.entries(object)) {
      yield * this.validate(values, value, before(name), `${at}[${name}]`)
    }
  }
}
