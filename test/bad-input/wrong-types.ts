/**
 * For every field of a message, values of a type that it does not accept, each in an otherwise empty object. Messages
 * that occur in several resources are covered once.
 */
import type { Message } from '../../schemas/language/declare.js'
import { Facts } from '../../schemas/language/types.js'
import { planOf, type Plan, type PlannedField } from '../../schemas/language/plan.js'

export interface Wrong {
  /** As errors write it: `subjects[0].name`. */
  readonly path: string
  readonly value: unknown
  readonly body: Record<string, unknown>
}

type Wrap = (value: unknown) => Record<string, unknown>

const WRONG = {
  string: [1, true, {}, ['x']],
  bool: ['true', 1, {}, []],
  int32: ['1', 1.5, 2 ** 31, 1e300, true, {}],
  int64: ['1', 1.5, 2 ** 63, 1e300, true, {}],
  double: ['1', true, {}],
  bytes: [1, '***', 'a', {}, []],
  object: ['x', 1, true, []],
  list: ['x', 1, true, {}]
} as const

const TIMES = [1, {}, [], 'yesterday', '2020-13-01T00:00:00Z']

/** Types with a special form, except those that accept anything. */
const SPECIAL: Readonly<Record<string, readonly unknown[]>> = {
  'meta.v1.Time': TIMES,
  'meta.v1.MicroTime': TIMES,
  'meta.v1.FieldsV1': ['x', 1],
  'resource.Quantity': ['x', '1 Gi', {}, [], true],
  'intstr.IntOrString': [1.5, 2 ** 31, {}, [], true],
  'authentication.v1.ExtraValue': ['x', 1, {}],
  'authorization.v1.ExtraValue': ['x', 1, {}],
  'certificates.v1.ExtraValue': ['x', 1, {}]
}

const MAX_DEPTH = 12

/** @param known names of messages that are covered already; extended by the call */
export function * wrongTypes (message: Message, known = new Set<string>()): Generator<Wrong> {
  if (message[Facts].type !== undefined) {
    for (const name of ['kind', 'apiVersion']) {
      for (const value of [1, {}, 'wrong/v0']) yield { path: name, value, body: { [name]: value } }
    }
  }
  // what is wrapped at the top is an object
  yield * ofFields(planOf(message), '', value => value as Record<string, unknown>, 0, known)
}

function * ofFields (plan: Plan, at: string, wrap: Wrap, depth: number, known: Set<string>): Generator<Wrong> {
  if (depth > MAX_DEPTH || known.has(plan.message.name)) return
  known.add(plan.message.name)
  for (const field of plan.fields) {
    const path = at === '' ? field.name : `${at}.${field.name}`
    const inside: Wrap = value => wrap({ [field.name]: value })
    const wrong = function * (values: readonly unknown[], where: string, put: Wrap): Generator<Wrong> {
      for (const value of values) yield { path: where, value, body: put(value) }
    }
    if (field.shape === 'list') {
      yield * wrong(WRONG.list, path, inside)
      yield * ofElement(field, `${path}[0]`, value => inside([value]), depth, known)
    } else if (field.shape === 'map') {
      yield * wrong(WRONG.object, path, inside)
      yield * ofElement(field, `${path}.key`, value => inside({ key: value }), depth, known)
    } else yield * ofElement(field, path, inside, depth, known)
  }
}

function * ofElement (
  field: PlannedField, path: string, put: Wrap, depth: number, known: Set<string>
): Generator<Wrong> {
  if (field.scalar !== undefined) {
    for (const value of WRONG[field.scalar]) yield { path, value, body: put(value) }
    return
  }
  if (field.special !== undefined) {
    for (const value of SPECIAL[field.plan.message.name] ?? []) yield { path, value, body: put(value) }
    return
  }
  if (field.alternatives) {
    yield { path, value: 'x', body: put('x') }
    return
  }
  for (const value of WRONG.object) yield { path, value, body: put(value) }
  yield * ofFields(field.plan, path, put, depth + 1, known)
}
