/** Rules of custom objects: their schema, embedded objects, and unique list items. */
import { embeddedFindings } from '../api/apiextensions/embedded-objects.js'
import { ObjectPatterns } from '../api/apiextensions/patterns.js'
import { isSchema, type JSONSchemaProps } from '../api/apiextensions/schemas.js'
import { ValueValidator } from '../api/apiextensions/schema-values.js'
import { sortedJson } from '../codec/json/escape.js'
import type { Report } from '../language/types.js'
import { duplicate, invalid } from '../rules/findings.js'
import type { FieldError } from '../status.js'
import type { Steps } from '../steps.js'
import { someSchema } from '../api/apiextensions/rules/schema-walk.js'
import { keysOf } from './list-keys.js'
import { compileRules, validateRules } from './validations.js'
import { isObject } from '../language/values.js'

export interface CustomRules {
  /** `old` is undefined on create. */
  readonly validate: (object: object, old: object | undefined, report: Report) => Steps<void>
}

interface PreparedRules {
  readonly patterns: ObjectPatterns
  /** Whether there are embedded objects. */
  readonly embeds: boolean
  /** Whether items of some list must be unique. */
  readonly keyed: boolean
}

/** Errors of these types make the results of CEL rules meaningless. */
const BLOCKING: ReadonlySet<FieldError['type']> = new Set([
  'FieldValueRequired', 'FieldValueTooLong', 'FieldValueTooMany', 'FieldValueTypeInvalid'
])
const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete ' +
    'validation'

const prepared = (schema: JSONSchemaProps): PreparedRules => ({
  patterns: new ObjectPatterns(),
  embeds: someSchema(schema, part => part['x-orch-embedded-resource'] === true),
  keyed: someSchema(schema, part => part['x-orch-list-type'] === 'map' || part['x-orch-list-type'] === 'set')
})

type Compiled = ReturnType<typeof compileRules> extends Steps<infer T> ? T : never

/** Examines the schema when it validates the first object. @param evaluates whether its CEL rules apply */
export function customRules (schema: JSONSchemaProps, evaluates = false): CustomRules {
  let known: PreparedRules | undefined
  let compiled: { readonly rules: Compiled } | undefined
  return {
    validate: function * (object, old, reportAny) {
      const { patterns, embeds, keyed } = known ??= prepared(schema)
      let blocked = false
      const report: Report = error => {
        blocked ||= BLOCKING.has(error.type)
        reportAny(error)
      }
      yield * new ValueValidator(patterns, true).validating(schema, object, '', report)
      if (embeds) embeddedFindings(object, schema, '', false).forEach(report)
      // An object with repeated items from before they were forbidden may keep them.
      if (keyed && (old === undefined || !hasRepeatedItems(schema, old))) repeatedItems(schema, object, '', report)
      if (!evaluates) return
      compiled ??= { rules: yield * compileRules(schema) }
      if (compiled.rules === undefined) return
      if (blocked) invalid(report, '<nil>', null, NOT_CHECKED)
      else yield * validateRules(compiled.rules, object, old, report)
    }
  }
}

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
  const known = new Set<string>()
  for (const [index, item] of list.entries()) {
    if (isSchema(items)) repeatedItems(items, item, `${at}[${index}]`, report)
    if (type !== 'set' && type !== 'map') continue
    const key = type === 'set' ? item : keysOf(items, item, keys)
    const identity = sortedJson(key)
    if (known.has(identity)) duplicate(report, `${at}[${index}]`, key)
    known.add(identity)
  }
}
