/** The types of declared messages, as expressions in CEL see them. */
import { DYN, listOf, mapOf, STRING, type Type } from '../../expressions/types.js'
import { planOf, type PlannedField, type Plan } from './plan.js'
import type { Message, ScalarName } from './types.js'

const SCALARS: Readonly<Record<ScalarName, Type>> = {
  string: STRING, bool: { kind: 'bool' }, int32: { kind: 'int' }, int64: { kind: 'int' }, double: { kind: 'double' },
  bytes: { kind: 'bytes' }
}

/** Of what has a JSON form of its own, as all scalars of types that definitions declare. */
const JSON_TYPES: Readonly<Record<string, Type>> = {
  string: STRING, boolean: { kind: 'bool' }, integer: { kind: 'int' }, number: { kind: 'double' }
}
const TEXTS: Readonly<Record<string, Type>> = {
  'date-time': { kind: 'timestamp' }, date: { kind: 'timestamp' }, duration: { kind: 'duration' },
  byte: { kind: 'bytes' }
}

const known = new WeakMap<Plan, Type>()

/**
 * The same type each time, with all fields of a message; what is no plain value of a known type is `dyn`. Policies read
 * JSON, so that fields have the names they have there: `namespace` needs no escape, unlike in rules of definitions.
 */
export const celTypeOf = (message: Message): Type => ofPlan(planOf(message))

function ofPlan (plan: Plan): Type {
  let type = known.get(plan)
  if (type !== undefined) return type
  const fields = new Map<string, { member: string, type: Type }>()
  type = { kind: 'object', fields }
  known.set(plan, type) // some messages contain themselves
  if (plan.message.type !== undefined) {
    for (const member of ['kind', 'apiVersion']) fields.set(member, { member, type: STRING })
  }
  for (const field of plan.fields) fields.set(field.jsonName, { member: field.jsonName, type: ofField(field) })
  return type
}

function ofField (field: PlannedField): Type {
  const of = field.element === undefined ? ofElement(field) : ofField(field.element)
  return field.shape === 'list' ? listOf(of) : field.shape === 'map' ? mapOf(STRING, of) : of
}

function ofElement (field: PlannedField): Type {
  const { scalar, message, special, alternatives } = field
  if (scalar !== undefined) return SCALARS[scalar]
  if (special !== undefined) {
    const { type, format } = special.openapi
    return format === 'int-or-string' ? DYN : TEXTS[String(format)] ?? JSON_TYPES[String(type)] ?? DYN
  }
  return message === undefined || alternatives ? DYN : ofPlan(field.plan)
}
