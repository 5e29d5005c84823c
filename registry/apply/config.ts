/** Applied configurations: only the fields that the client sent, in the form of the type. */
import { isOn } from '../../schemas/gates.js'
import type { Report } from '../../schemas/language/types.js'
import { setMember, isObject } from '../../schemas/language/values.js'
import { nameOfType } from '../../schemas/language/decode-error.js'
import { membersOf, memberOf, itemsOf, type Kind, type Shape } from './shape.js'

const EXPECTED: Partial<Record<Kind, string>> = {
  items: 'a list', set: 'a list', struct: 'an object', entries: 'an object'
}

/**
 * Restricts a decoded object to the members of the body. Decoding adds defaults and drops zeros, but an applier owns
 * exactly what it sent, null included.
 */
export function appliedValue (shape: Shape, body: unknown, decoded: unknown): unknown {
  if (decoded === undefined || body === null || !isOfKind(shape, body)) return body
  switch (shape.kind) {
    case 'struct': return appliedMembers(shape, membersOf(body), membersOf(decoded))
    case 'entries': return appliedMembers(shape, membersOf(body), membersOf(decoded))
    case 'items': return itemsOf(decoded).map((item, index) => appliedValue(shape.item, itemsOf(body)[index], item))
    default: return decoded
  }
}

function appliedMembers (
  shape: Shape, body: Readonly<Record<string, unknown>>, decoded: Readonly<Record<string, unknown>>
): Record<string, unknown> {
  const applied: Record<string, unknown> = {}
  for (const name of Object.keys(body)) {
    const field = shape.kind === 'entries' ? shape.item : shape.field(name)
    const value = body[name]
    if (field === undefined || value === undefined) continue
    const own = shape.kind === 'entries' || field.name === '' ? name : field.name // undeclared ones have none
    setMember(applied, own, appliedValue(field, value, memberOf(decoded, own)))
  }
  return applied
}

/** False for values of another type, which decoding may have kept. */
function isOfKind (shape: Shape, value: unknown): boolean {
  const expected = EXPECTED[shape.kind]
  if (!shape.anyType || expected === undefined || value === null || value === undefined) return true
  return expected === 'a list' ? Array.isArray(value) : isObject(value)
}

/** Reports values that cannot be merged: of another type, list items without their keys, duplicate items. */
export function validateConfig (shape: Shape, config: unknown, report: Report, at = ''): void {
  const memberPath = (name: string): string => at === '' ? name : `${at}.${name}`
  if (!isOfKind(shape, config)) {
    return report({
      type: 'FieldValueTypeInvalid', field: at, value: nameOfType(config),
      detail: `must be ${EXPECTED[shape.kind] ?? ''}`
    })
  }
  switch (shape.kind) {
    case 'items':
    case 'set': return validateItems(shape, itemsOf(config), report, at)
    case 'struct':
      for (const [name, value] of Object.entries(membersOf(config))) {
        const field = shape.field(name)
        if (field !== undefined) validateConfig(field, value, report, memberPath(name))
      }
      return
    case 'entries':
      for (const [name, value] of Object.entries(membersOf(config))) {
        validateConfig(shape.item, value, report, `${at}[${name}]`)
      }
  }
}

function hasDefault (list: Shape, key: string, report: Report): boolean {
  const since = list.emptySince(key)
  return list.item.field(key)?.default !== undefined || (since !== undefined && isOn(report, since))
}

function validateItems (
  shape: Shape, items: readonly unknown[], report: Report, at: string
): void {
  const seen = new Set<string>()
  items.forEach((item, index) => {
    const field = `${at}[${index}]`
    const missing = shape.keys.find(name => (memberOf(membersOf(item), name) ?? undefined) === undefined &&
      !shape.mayLack(name) && !hasDefault(shape, name, report))
    if (missing !== undefined) {
      report({
        type: 'FieldValueRequired', field: `${field}.${missing}`,
        detail: `items of this list are distinguished by ${shape.keys.join(', ')}`
      })
    }
    const element = shape.elementOf(item)
    if (seen.has(element)) {
      report({ type: 'FieldValueDuplicate', field, value: isObject(item) ? element.slice(2) : item, detail: '' })
    }
    seen.add(element)
    validateConfig(shape.item, item, report, field)
  })
}
