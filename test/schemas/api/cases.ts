/** Tables of refusals: a valid object, a change, and the type and field of each cause. */
import type { Test } from 'tap'
import { decode } from '../../../schemas/language/decode.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import { validateSubresource, validateObject, validateUpdate } from '../../../schemas/language/validation.js'
import { clone } from '../../../schemas/language/values.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import type { ResourceType } from '../../../schemas/resource.js'
import type { FieldError } from '../../../schemas/status.js'

/**
 * Values by path, such as `spec.containers[0].image`, or `metadata.labels{a/b}` for a key with dots; undefined removes
 * a value.
 */
export type Change = Readonly<Record<string, unknown>>
/** A change, and its causes such as `Required spec.containers[0].image`, in any order; none if it is allowed. */
export type Row = readonly [change: Change, ...causes: readonly string[]]

export function changed (object: object, change: Change): object {
  const copy = clone(object)
  for (const [path, value] of Object.entries(change)) {
    const steps = [...path.matchAll(/\{([^}]*)\}|[^.[\]{}]+/g)].map(([step, key]) => key ?? step)
    const last = steps.pop() ?? ''
    let at = copy as Record<string, unknown>
    steps.forEach((step, index) => {
      at[step] ??= /^\d+$/.test(steps[index + 1] ?? last) ? [] : {}
      at = at[step] as Record<string, unknown>
    })
    if (value === undefined) delete at[last]
    else at[last] = value
  }
  return copy
}

/** The object of a client as validation gets it: decoded, with defaults. */
export function made ({ stored }: ResourceType, object: object): ApiObject {
  const made = decode(stored.message, clone(object)).object
  applyDefaults(stored.message, made)
  return made
}

export const causes = (errors: readonly FieldError[]): string[] =>
  [...new Set(errors.map(({ type, field }) => `${type.replace('FieldValue', '')} ${field}`))].sort()

const told = (change: Change): string => {
  const text =
    Object.entries(change).map(([path, value]) => `${path} = ${JSON.stringify(value)}`).join(', ') || 'as it is'
  return text.length > 150 ? `${text.slice(0, 150)}…` : text
}

/** Checks the findings on creating the valid object with each change. */
export function creates (
  t: Test, type: ResourceType, valid: object, rows: readonly Row[], prepare: (object: ApiObject) => void = () => {}
): void {
  for (const [change, ...expected] of rows) {
    const object = made(type, changed(valid, change))
    prepare(object)
    const before = clone(object)
    const found = validateObject(type.stored, object)
    t.same(causes(found), [...expected].sort(), told(change))
    t.same(object, before, 'validation changes nothing')
    for (const { detail } of found) t.type(detail, 'string')
  }
}

/** Checks the findings on updating the valid object with each change, directly or through a subresource. */
export function updates (t: Test, type: ResourceType, valid: object, rows: readonly Row[], subresource = ''): void {
  const named = type.stored.subresources.find(({ name }) => name === subresource)
  for (const [change, ...expected] of rows) {
    const [old, object] = [made(type, valid), made(type, changed(valid, change))]
    const before = clone([old, object])
    const found = named === undefined
      ? validateUpdate(type.stored, object, old)
      : validateSubresource(type.stored, { object, old }, named)
    t.same(causes(found), [...expected].sort(), told(change))
    t.same([old, object], before, 'validation changes nothing')
  }
}
