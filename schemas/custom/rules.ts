/** Rules of custom objects: their schema, embedded objects, and unique list items. */
import { embeddedFindings } from '../api/apiextensions/embedded-objects.js'
import { Correlation, keysOf } from '../api/apiextensions/correlation.js'
import { ObjectPatterns } from '../api/apiextensions/patterns.js'
import { isSchema, type JSONSchemaProps } from '../api/apiextensions/schemas.js'
import { ValueValidator } from '../api/apiextensions/schema-values.js'
import { sortedJson } from '../codec/json/escape.js'
import type { Report } from '../language/types.js'
import { duplicate, invalid } from '../rules/findings.js'
import type { FieldError } from '../status.js'
import type { Steps } from '../steps.js'
import { someSchema } from '../api/apiextensions/rules/schema-walk.js'
import { compileRules, type Ruled } from './ruled.js'
import { validateRules } from './validations.js'
import { isObject } from '../language/values.js'

export interface CustomRules {
  /** `old` is undefined on create. @param subresource `` for the object itself */
  readonly validate: (object: object, old: object | undefined, report: Report, subresource?: string) => Steps<void>
}

/** Of all types, so that what is kept of them has one bound. */
const patterns = new ObjectPatterns()

interface PreparedRules {
  /** Whether there are embedded objects. */
  readonly embeds: boolean
  /** Whether items of some list must be unique. */
  readonly keyed: boolean
}

/** Errors of these types make the results of CEL rules meaningless. */
const BLOCKING: ReadonlySet<FieldError['type']> = new Set([
  'FieldValueNotSupported', 'FieldValueRequired', 'FieldValueTooLong', 'FieldValueTooMany', 'FieldValueTypeInvalid'
])
const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete ' +
    'validation'

const prepared = (schema: JSONSchemaProps): PreparedRules => ({
  embeds: someSchema(schema, part => part['x-orch-embedded-resource'] === true),
  keyed: someSchema(schema, part => part['x-orch-list-type'] === 'map' || part['x-orch-list-type'] === 'set')
})

/** Accompanies the compilation and the evaluation of rules, for metrics: returns the same steps. */
export interface RuleObserver {
  readonly compiling: <T>(steps: Steps<T>) => Steps<T>
  readonly evaluating: <T>(steps: Steps<T>) => Steps<T>
}

const UNOBSERVED: RuleObserver = { compiling: steps => steps, evaluating: steps => steps }

export interface RuleGates {
  /** Formats of 1.34 and ranges of numbers are checked. */
  readonly later?: boolean
  /** CEL rules apply. */
  readonly evaluates: boolean
  /** What an update does not change may be invalid, and updates of the status are checked there alone. */
  readonly ratchets: boolean
}

/** Examines the schema when it validates the first object. */
export function customRules (
  schema: JSONSchemaProps, { evaluates, ratchets, later }: RuleGates = { evaluates: false, ratchets: false },
  { compiling, evaluating } = UNOBSERVED
): CustomRules {
  let known: PreparedRules | undefined
  let compiled: { readonly rules: Ruled | undefined } | undefined
  return {
    validate: function * (object, old, reportAny, subresource = '') {
      const { embeds, keyed } = known ??= prepared(schema)
      let blocked = false
      const report: Report = error => {
        blocked ||= BLOCKING.has(error.type)
        reportAny(error)
      }
      const isStatus = ratchets && subresource === 'status'
      const [checked, value] = isStatus ? [ofStatus(schema), statusOf(object)] : [schema, object]
      const correlated = ratchets && old !== undefined
        ? new Correlation(checked, value, isStatus ? statusOf(old) : old)
        : undefined
      yield * new ValueValidator(patterns, true, later).validating(checked, value, '', report, correlated)
      if (embeds) embeddedFindings(object, schema, '', false).forEach(report)
      // An object with repeated items from before they were forbidden may keep them.
      if (keyed && (old === undefined || !hasRepeatedItems(schema, old))) repeatedItems(schema, object, '', report)
      if (!evaluates) return
      compiled ??= { rules: yield * compiling(compileRules(schema, true)) }
      if (compiled.rules === undefined) return
      if (blocked) invalid(report, '<nil>', null, NOT_CHECKED)
      else {
        const forgive = (text: string): void => { reportAny.warn?.(text) }
        yield * evaluating(validateRules(compiled.rules, object, old, { report, forgive, ratchets }))
      }
    }
  }
}

const ofStatus = ({ properties: { status } = {} }: JSONSchemaProps): JSONSchemaProps =>
  ({ properties: status === undefined ? {} : { status } })
const statusOf = (object: object): object => 'status' in object ? { status: object.status } : {}

function hasRepeatedItems (schema: JSONSchemaProps, object: object): boolean {
  let isFound = false
  repeatedItems(schema, object, '', () => { isFound = true })
  return isFound
}

/** Checks that the items of sets and of keyed lists are unique. */
function repeatedItems (schema: JSONSchemaProps, value: unknown, at: string, report: Report): void {
  if (Array.isArray(value)) return repeatedIn(schema, value, at, report)
  if (!isObject(value)) return
  const { properties = {}, additionalProperties } = schema
  for (const [name, member] of Object.entries(value)) {
    const part = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (part !== undefined) repeatedItems(part, member, at === '' ? name : `${at}.${name}`, report)
    else if (isSchema(additionalProperties)) repeatedItems(additionalProperties, member, `${at}[${name}]`, report)
  }
}

function repeatedIn (
  { items, 'x-orch-list-type': type, 'x-orch-list-map-keys': keys = [] }: JSONSchemaProps, list: readonly unknown[],
  at: string, report: Report
): void {
  const other = type === 'map' ? list.findIndex(item => item !== null && !isObject(item)) : -1
  if (other >= 0) invalid(report, `${at}[${other}]`, list[other], 'must be an object, as the list is of type map')
  const times = new Map<string, number>()
  for (const [index, item] of list.entries()) {
    if (isSchema(items)) repeatedItems(items, item, `${at}[${index}]`, report)
    if (other >= 0 || (type !== 'set' && type !== 'map')) continue
    const key = type === 'set' ? item : keysOf(items, item, keys)
    const identity = sortedJson(key)
    const before = times.get(identity) ?? 0
    if (before === 1) duplicate(report, `${at}[${index}]`, key)
    times.set(identity, before + 1)
  }
}
