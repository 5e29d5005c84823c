/**
 * Validation from the declaration: required texts, closed enumerations, lengths, ranges and patterns, immutable fields,
 * then the rules of each message. Findings come in the order of the fields, at most a hundred; nothing throws.
 */
import type { Field, Message, Plain, Report } from './declare.js'
import { validateMetadata, validateMetadataUpdate } from './metadata.js'
import { planOf } from './plan.js'
import type { Plan, PlannedField } from './plan.js'
import type { ApiObject, ResourceDefinition } from './resource.js'
import type { FieldError } from './status.js'
import { sameValue } from './values.js'

const MAX_FINDINGS = 100

function collect (run: (report: Report) => void): FieldError[] {
  const found: FieldError[] = []
  run(error => { if (found.length < MAX_FINDINGS) found.push(error) })
  return found
}

/** What is wrong with an object that is to be created. */
export function validateObject (resource: ResourceDefinition, object: ApiObject): FieldError[] {
  return collect(report => check(resource, object, report))
}

/** What is wrong with an object that is to replace `old`: all that `validateObject` finds, and what may not change. */
export function validateUpdate (resource: ResourceDefinition, object: ApiObject, old: ApiObject): FieldError[] {
  return collect(report => {
    validateMetadataUpdate(object.metadata, old.metadata, report)
    const plan = planOf(resource.message)
    compare(plan, asPlain(object), asPlain(old), '', report)
    check(resource, object, report)
  })
}

/** Findings in a message that is no resource, such as options. */
export function validateMessage<T extends object> (message: Message<T>, object: T): FieldError[] {
  return collect(report => walk(planOf(message), asPlain(object), '', report))
}

const asPlain = (object: object) => object as Plain // objects of a message have their fields by name

function check (resource: ResourceDefinition, object: ApiObject, report: Report): void {
  validateMetadata(resource, object.metadata, report)
  walk(planOf(resource.message), asPlain(object), '', report)
}

const join = (at: string, name: string) => at === '' ? name : `${at}.${name}`

const ruled = new WeakMap<Plan, boolean>()

/** Whether anything below can be wrong; what can't is not walked. */
function hasRules (plan: Plan): boolean {
  let answer = ruled.get(plan)
  if (answer === undefined) {
    ruled.set(plan, false)
    answer = plan.message.validate !== undefined || plan.fields.some(field => isConstrained(field) || (nests(field) && hasRules(field.plan)))
    ruled.set(plan, answer)
  }
  return answer
}

const nests = (field: PlannedField) => field.message !== undefined && field.special === undefined

function isConstrained ({ field, scalar, shape }: PlannedField): boolean {
  return field.closed === true || field.maxLength !== undefined || field.pattern !== undefined || field.minimum !== undefined ||
    field.maximum !== undefined || (field.required === true && field.mayBeEmpty !== true && scalar === 'string' && shape === 'one')
}

function walk (plan: Plan, object: Plain, at: string, report: Report): void {
  if (!hasRules(plan)) return
  for (const field of plan.fields) {
    if (at === '' && field.name === 'metadata') continue // has its own file
    const value = object[field.name]
    const path = join(at, field.name)
    if (isConstrained(field)) {
      if (field.shape === 'one') constrain(field.field, value, path, report)
      else each(value, path, (item, itemPath) => constrain(field.field, item, itemPath, report))
    }
    if (!nests(field) || value === undefined || value === null || !hasRules(field.plan)) continue
    // Values were decoded by their declaration, so messages are objects.
    if (field.shape === 'one') walk(field.plan, value as Plain, path, report)
    else each(value, path, (item, itemPath) => walk(field.plan, item as Plain, itemPath, report))
  }
  plan.message.validate?.(object, at, report)
}

function each (value: unknown, path: string, visit: (item: unknown, path: string) => void): void {
  if (Array.isArray(value)) value.forEach((item, index) => visit(item, `${path}[${index}]`))
  else if (typeof value === 'object' && value !== null) for (const [key, item] of Object.entries(value)) visit(item, `${path}[${key}]`)
}

function constrain (field: Field, value: unknown, path: string, report: Report): void {
  if (value === undefined || value === '') {
    if (field.required === true && field.mayBeEmpty !== true && field.shape === 'one') report({ type: 'FieldValueRequired', field: path, detail: '' })
    return
  }
  if (typeof value === 'string') {
    if (field.closed === true && field.values !== undefined && !field.values.includes(value)) {
      report({ type: 'FieldValueNotSupported', field: path, value, detail: `supported values: ${field.values.map(known => JSON.stringify(known)).join(', ')}` })
    }
    if (field.maxLength !== undefined && value.length > field.maxLength) {
      report({ type: 'FieldValueTooLong', field: path, detail: `must have at most ${field.maxLength} characters` })
    }
    if (field.pattern !== undefined && !field.pattern.test(value)) {
      report({ type: 'FieldValueInvalid', field: path, value, detail: `must match ${field.pattern.source}` })
    }
  }
  if (typeof value === 'number') {
    if (field.minimum !== undefined && value < field.minimum) {
      report({ type: 'FieldValueInvalid', field: path, value, detail: `must be greater than or equal to ${field.minimum}` })
    }
    if (field.maximum !== undefined && value > field.maximum) {
      report({ type: 'FieldValueInvalid', field: path, value, detail: `must be less than or equal to ${field.maximum}` })
    }
  }
}

/** What may not change, down through nested messages; elements of lists have no counterpart to compare with. */
function compare (plan: Plan, object: Plain, old: Plain, at: string, report: Report): void {
  for (const field of plan.fields) {
    if (at === '' && field.name === 'metadata') continue
    const [value, before] = [object[field.name], old[field.name]]
    const path = join(at, field.name)
    if (field.field.immutable === true && !sameValue(value, before)) {
      report({ type: 'FieldValueInvalid', field: path, value, detail: 'field is immutable' })
    } else if (field.shape === 'one' && nests(field) && value !== undefined && before !== undefined) {
      compare(field.plan, value as Plain, before as Plain, path, report)
    }
  }
  plan.message.validateUpdate?.(object, old, at, report)
}
