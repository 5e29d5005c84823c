/** For every field of a message, values of a type that it does not take, each in an object that is otherwise empty. */
import type { Message } from '../../schemas/index.js'
import { planOf } from '../../schemas/plan.js'
import type { Plan, PlannedField } from '../../schemas/plan.js'

export interface Wrong {
  /** As errors name it: `subjects[0].name`. */
  readonly path: string
  readonly value: unknown
  readonly body: Record<string, unknown>
}

type Wrap = (value: unknown) => Record<string, unknown>

const WRONG = {
  string: [1, true, {}, ['x']],
  bool: ['true', 1, {}, []],
  int32: ['1', 1.5, 2 ** 31, 1e300, true, {}],
  int64: ['1', 1.5, 2 ** 53, 1e300, true, {}],
  double: ['1', true, {}],
  bytes: [1, '***', 'a', {}, []],
  object: ['x', 1, true, []],
  list: ['x', 1, true, {}]
} as const

const MOST_DEPTH = 5

export function * wrongTypes (message: Message): Generator<Wrong> {
  if (message.type !== undefined) {
    for (const name of ['kind', 'apiVersion']) for (const value of [1, {}, 'wrong/v0']) yield { path: name, value, body: { [name]: value } }
  }
  yield * ofFields(planOf(message), '', value => value as Record<string, unknown>, 0) // what is wrapped at the top is an object
}

function * ofFields (plan: Plan, at: string, wrap: Wrap, depth: number): Generator<Wrong> {
  if (depth > MOST_DEPTH) return
  for (const field of plan.fields) {
    const path = at === '' ? field.name : `${at}.${field.name}`
    const inside: Wrap = value => wrap({ [field.name]: value })
    const wrong = function * (values: readonly unknown[], where: string, put: Wrap): Generator<Wrong> {
      for (const value of values) yield { path: where, value, body: put(value) }
    }
    if (field.shape === 'list') {
      yield * wrong(WRONG.list, path, inside)
      yield * ofElement(field, `${path}[0]`, value => inside([value]), depth)
    } else if (field.shape === 'map') {
      yield * wrong(WRONG.object, path, inside)
      yield * ofElement(field, `${path}.key`, value => inside({ key: value }), depth)
    } else yield * ofElement(field, path, inside, depth)
  }
}

function * ofElement (field: PlannedField, path: string, put: Wrap, depth: number): Generator<Wrong> {
  if (field.scalar !== undefined) {
    for (const value of WRONG[field.scalar]) yield { path, value, body: put(value) }
    return
  }
  if (field.special !== undefined) {
    // Times: no number, no object, no text that is none.
    const values = field.plan.message.name.endsWith('Time') ? [1, {}, [], 'yesterday', '2020-13-01T00:00:00Z'] : ['x', 1]
    for (const value of values) yield { path, value, body: put(value) }
    return
  }
  for (const value of WRONG.object) yield { path, value, body: put(value) }
  yield * ofFields(field.plan, path, put, depth + 1)
}
