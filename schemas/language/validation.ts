/**
 * Declarative validation: required strings, enumerations, lengths, ranges, patterns, immutable fields, then the rules
 * of each message. Findings come in field order, at most a hundred; nothing throws.
 */
import { DEFAULT_GATES, type Gates } from '../gates.js'
import type { FieldFacts, Message, Plain, Report } from './types.js'
import { validateMetadata, validateMetadataUpdate } from '../meta/metadata.js'
import { fieldsThat, fieldAt, anywhere, planOf, alternativeOf, type PlannedField, type Plan } from './plan.js'
import { oncePer } from '../once-per.js'
import { pathSegment } from '../names.js'
import { tooLong } from '../rules/findings.js'
import type { ApiObject } from '../meta/api-object.js'
import type { Subresource } from '../subresource.js'
import type { UpdateRule } from '../strategy.js'
import type { Representation } from '../resource.js'
import type { FieldError } from '../status.js'
import type { Steps } from '../steps.js'
import { isIdentical, isObject, sameValue, valueAt } from './values.js'

const MAX_FINDINGS = 100

/** Aborts validation once it has reported the maximum. */
const ENOUGH = new Error('enough has been found')

/** @throws ENOUGH */
function reporting (findings: FieldError[], gates: Gates, warn?: Report['warn']): Report {
  const report = (error: FieldError): void => { if (findings.push(error) === MAX_FINDINGS) throw ENOUGH }
  return gates === DEFAULT_GATES && warn === undefined
    ? report
    : Object.assign(report, { gates, ...(warn === undefined ? {} : { warn }) })
}

/** Runs validation and returns its errors, at most a hundred. */
export function collect (
  run: (report: Report) => void, gates = DEFAULT_GATES, warn?: Report['warn']
): FieldError[] {
  const findings: FieldError[] = []
  try {
    run(reporting(findings, gates, warn))
  } catch (error) {
    if (error !== ENOUGH) throw error
  }
  return findings
}

/** The same for validation in steps. */
export function * collectInSteps (
  run: (report: Report) => Steps<void>, gates = DEFAULT_GATES, warn?: Report['warn']
): Steps<FieldError[]> {
  const findings: FieldError[] = []
  try {
    yield * run(reporting(findings, gates, warn))
  } catch (error) {
    if (error !== ENOUGH) throw error
  }
  return findings
}

/** Validates a new object. */
export function validateObject (resource: Representation, object: ApiObject, gates?: Gates): FieldError[] {
  return collect(report => {
    validateMetadata(resource, object.metadata, report)
    walk(planOf(resource.message), asPlain(object), '', { report, created: true })
  }, gates)
}

/**
 * Validates an object that replaces `old`: as `validateObject` without the rules for creation, then what may not
 * change.
 */
export function validateUpdate (
  resource: Representation, object: ApiObject, old: ApiObject, gates?: Gates
): FieldError[] {
  return withoutForgiven(resource, old, gates, collect(report => {
    validateUpdatedMetadata(rulesOfUpdate(resource, resource.notOnUpdate), object, old, report)
    const plan = planOf(resource.message)
    if (!resource.notOnUpdate.includes('fields')) walk(plan, asPlain(object), '', { report, created: false })
    comparison(report)(plan, asPlain(object), asPlain(old), '')
  }, gates))
}

/** Leaves out what is forgiven where the old object has it at the same place. */
function withoutForgiven (
  { message }: Representation, old: ApiObject, gates: Gates | undefined, findings: FieldError[]
): FieldError[] {
  if (!findings.some(({ isForgiven }) => isForgiven === true)) return findings
  const placeOf = ({ type, field }: FieldError): string => `${type} ${field}`
  const before = new Set(collect(report => {
    walk(planOf(message), asPlain(old), '', { report, created: false })
  }, gates).map(placeOf))
  return findings.filter(finding => finding.isForgiven !== true || !before.has(placeOf(finding)))
}

/** An object, and the one that it replaces. */
export interface Replacement { readonly object: ApiObject, readonly old: ApiObject }

/**
 * Validates a change by a subresource: the metadata and what the subresource changes, or the whole object if it does
 * not declare that.
 */
export function validateSubresource (
  resource: Representation, { object, old }: Replacement,
  { changes, validateUpdate: validate, notOnUpdate = ['generateName'] }: Subresource, gates?: Gates
): FieldError[] {
  return withoutForgiven(resource, old, gates, collect(report => {
    validateUpdatedMetadata(rulesOfUpdate(resource, notOnUpdate), object, old, report)
    const visit = { report, created: false }
    if (changes === undefined) walk(planOf(resource.message), asPlain(object), '', visit)
    else {
      for (const path of changes) {
        const field = fieldAt(resource.message, path)
        if (field !== undefined) walkValue(checkOf(field), valueAt(object, path), path, visit)
      }
    }
    validate?.(object, old, report)
  }, gates))
}

export interface Validated {
  readonly object: ApiObject
  /** Undefined on create. */
  readonly old: ApiObject | undefined
  /** '' is the object itself. */
  readonly subresource: string
  /** Default those of 1.24. */
  readonly gates?: Gates | undefined
  /** Default warnings are ignored. */
  readonly warn?: Report['warn']
}

/** The rules of a representation itself, in steps. */
export function * validateVersion (
  { rules }: Representation, { object, old, subresource, gates = DEFAULT_GATES, warn }: Validated
): Steps<FieldError[]> {
  if (rules === undefined) return []
  return yield * collectInSteps(function * (report) {
    if (old === undefined) rules.create?.(object, report)
    else rules.update?.(object, old, report, subresource)
    const steps = rules.inSteps?.(object, old, report, subresource, gates)
    if (steps !== undefined) yield * steps
  }, gates, warn)
}

function rulesOfUpdate (
  { namespaced, nameRule, laterNames, anyFinalizer, fieldAnnotations }: Representation,
  notOnUpdate: readonly UpdateRule[]
): Parameters<typeof validateMetadata>[0] {
  return {
    namespaced,
    // A name that a later release let through stays.
    nameRule: notOnUpdate.includes('generateName') ? pathSegment : laterNames?.rule ?? nameRule,
    anyFinalizer: anyFinalizer || notOnUpdate.includes('finalizers'),
    fieldAnnotations
  }
}

function validateUpdatedMetadata (
  rules: ReturnType<typeof rulesOfUpdate>, { metadata }: ApiObject, old: ApiObject, report: Report
): void {
  validateMetadata(rules, metadata, report)
  validateMetadataUpdate(metadata, old.metadata, report)
}

/** Validates a message that is not a resource, such as options. */
export function validateMessage<T extends object> (message: Message<T>, object: T): FieldError[] {
  return collect(report => { walk(planOf(message), asPlain(object), '', { report, created: false }) })
}

/** Validates a part of an object, for custom rules that choose the part or its path. */
export function validatePart<T extends object> (message: Message<T>, part: T, at: string, report: Report): void {
  walk(planOf(message), asPlain(part), at, { report, created: false })
}

const asPlain = (object: object) => object as Plain // read by field name

const join = (at: string, name: string) => at === '' ? name : `${at}.${name}`

/** Messages without rules below are skipped. */
const hasRules = anywhere(({ messages, fields }) =>
  messages.some(({ validate, validateCreate }) => validate !== undefined || validateCreate !== undefined) ||
    fields.some(({ innermost }) => isConstrained(innermost)))

const nests = (field: PlannedField) => field.message !== undefined && field.special === undefined

function isConstrained ({ field, scalar, shape }: PlannedField): boolean {
  return field.ruled !== true && (field.closed === true || field.maxLength !== undefined ||
    field.pattern !== undefined || field.minimum !== undefined ||
    field.maximum !== undefined ||
      (field.required === true && field.mayBeEmpty !== true && scalar === 'string' && shape === 'one'))
}

interface Checked {
  readonly field: PlannedField
  /** Its value, or each element, has constraints. */
  readonly constrained: boolean
  /** Nested messages have rules. */
  readonly nested: boolean
}

/** The fields to validate. */
const checked = oncePer(({ fields }: Plan): readonly Checked[] => fields.filter(({ field }) => field.ruled !== true)
  .map(checkOf)
  .filter(({ field, constrained, nested }) => constrained || nested || field.element !== undefined))

function checkOf (field: PlannedField): Checked {
  return {
    field, constrained: field.element === undefined &&
    isConstrained(field), nested: field.element === undefined && nests(field) && hasRules(field.plan)
  }
}

/** Made once per object. */
interface Visit {
  readonly report: Report
  /** Also apply the rules for creation. */
  readonly created: boolean
}

function walk (plan: Plan, object: Plain, at: string, visit: Visit): void {
  if (!hasRules(plan)) return
  for (const check of checked(plan)) {
    const { name, required } = check.field
    if (at === '' && name === 'metadata') continue // validated by meta/metadata.ts
    const value = object[name]
    if (value !== undefined || required) walkValue(check, value, join(at, name), visit)
  }
  const { report, created } = visit
  for (const { validate, validateCreate } of plan.messages) {
    validate?.(object, at, report)
    if (created) validateCreate?.(object, at, report)
  }
}

function walkValue (check: Checked, value: unknown, path: string, visit: Visit): void {
  const { field } = check
  if (field.shape === 'one') return walkItem(check, value, path, visit)
  const { element } = field
  const item = element === undefined ? undefined : checkOf(element)
  each(value, path, (value, path) =>
    item === undefined ? walkItem(check, value, path, visit) : walkValue(item, value, path, visit))
}

function walkItem ({ field, constrained, nested }: Checked, value: unknown, path: string, visit: Visit): void {
  if (constrained) constrain(field.field, value, path, visit.report)
  // Decoded values: a message is an object.
  if (nested && value !== undefined && value !== null) walkMessage(field, value, path, visit)
}

function walkMessage ({ alternatives, plan }: PlannedField, value: unknown, path: string, visit: Visit): void {
  if (!alternatives) return walk(plan, value as Plain, path, visit)
  const chosen = alternativeOf(plan, value)
  if (chosen !== undefined) walkValue(checkOf(chosen), value, path, visit)
}

function each (value: unknown, path: string, visit: (item: unknown, path: string) => void): void {
  if (Array.isArray(value)) value.forEach((item, index) => visit(item, `${path}[${index}]`))
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) visit(item, `${path}[${key}]`)
  }
}

function constrain (field: FieldFacts, value: unknown, path: string, report: Report): void {
  // An empty string is unset in a field, but a value in a list.
  if (value === undefined || (value === '' && field.pointer !== true && field.shape === 'one')) {
    if (field.required === true && field.mayBeEmpty !== true && field.shape === 'one') {
      report({ type: 'FieldValueRequired', field: path, detail: field.missing ?? '' })
    }
    return
  }
  if (typeof value === 'string') {
    if (field.closed === true && field.values !== undefined && !field.values.includes(value)) {
      const known = field.unsorted === true ? field.values : [...field.values].sort()
      report({
        type: 'FieldValueNotSupported', field: path, value,
        detail: `supported values: ${known.map(choice => JSON.stringify(choice)).join(', ')}`
      })
    }
    if (field.maxLength !== undefined && value.length > field.maxLength) {
      tooLong(report, path, field.maxLength)
    }
    if (field.pattern !== undefined && !field.pattern.test(value)) {
      report({ type: 'FieldValueInvalid', field: path, value, detail: `must match ${field.pattern.source}` })
    }
  }
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (field.minimum !== undefined && value < field.minimum) {
      report({
        type: 'FieldValueInvalid', field: path, value, detail: `must be greater than or equal to ${field.minimum}`
      })
    }
    if (field.maximum !== undefined && value > field.maximum) {
      report({
        type: 'FieldValueInvalid', field: path, value, detail: `must be less than or equal to ${field.maximum}`
      })
    }
  }
}

const hasUpdateRules = anywhere(({ messages, fields }) => messages
  .some(({ validateUpdate }) => validateUpdate !== undefined) || fields.some(({ field }) => field.immutable === true))
/** List elements have no counterpart to compare with, nor have unions. */
const isCompared = (field: PlannedField): boolean => field.shape === 'one' && nests(field) && !field.alternatives &&
  hasUpdateRules(field.plan)
const compared = fieldsThat(field => field.field.immutable === true || isCompared(field))

/** Compares immutable fields, down through nested messages. */
const comparison = (report: Report) => function compare (plan: Plan, object: Plain, old: Plain, at: string): void {
  for (const field of compared(plan)) {
    if (at === '' && field.name === 'metadata') continue
    const [value, before] = [object[field.name], old[field.name]]
    const path = join(at, field.name)
    // Objects of any kind are compared as they are.
    const isSame = field.special !== undefined && isObject(value) && isObject(before) ? isIdentical : sameValue
    if (field.field.immutable === true && !isSame(value, before)) {
      report({ type: 'FieldValueInvalid', field: path, value, detail: 'field is immutable' })
    } else if (isCompared(field) && value !== undefined && before !== undefined) {
      compare(field.plan, value as Plain, before as Plain, path)
    }
  }
  for (const { validateUpdate } of plan.messages) validateUpdate?.(object, old, at, report)
}
