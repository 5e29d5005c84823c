/**
 * Tables of findings. A case is a title, a change of a valid object as a merge patch (null removes a field), and the
 * findings: type and field of each cause, in any order. A case of an update also has a change of the previous object.
 */
import type { Test } from 'tap'
import { DEFAULT_GATES, type Gates } from '../../../schemas/gates.js'
import { GatedFields } from '../../../schemas/language/gated.js'
import { decode } from '../../../schemas/language/decode.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import { emptyField } from '../../../schemas/language/plan.js'
import {
  validateSubresource, validateObject, validateUpdate, validateVersion
} from '../../../schemas/language/validation.js'
import { clone, putAt, valueAt } from '../../../schemas/language/values.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import type { Representation } from '../../../schemas/resource.js'
import type { FieldError } from '../../../schemas/status.js'
import { findResource } from '../find-resource.js'
import { finish } from '../../../schemas/steps.js'

export interface Plain { readonly [field: string]: unknown }
export type CreateCase = readonly [title: string, change: Plain, ...findings: string[]]
export type UpdateCase = readonly [title: string, before: Plain, change: Plain, ...findings: string[]]

const isPlain = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value)

function merged (object: Plain, change: Plain): Plain {
  const result: Record<string, unknown> = { ...object }
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete result[name]
    else result[name] = isPlain(value) ? merged(isPlain(result[name]) ? result[name] : {}, value) : value
  }
  return result
}

export function served (apiVersion: string, plural: string): Representation {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  const found = findResource(group, version, plural)
  if (found === undefined) throw new Error(`${apiVersion} has no ${plural}`)
  return found
}

const lines = (errors: readonly FieldError[]): string[] =>
  [...new Set(errors.map(({ type, field }) => `${type.replace('FieldValue', '')} ${field}`))].sort()

/** Converts a body of this version to the stored version. */
function received (one: Representation, body: Plain): ApiObject {
  const { stored } = one.type
  const metadata = {
    ...one.namespaced ? { namespace: 'default' } : {}, name: 'sample', ...(body['metadata'] as Plain | undefined)
  }
  const { object } = decode(one.message, { kind: one.kind, apiVersion: one.apiVersion, ...body, metadata })
  applyDefaults(one.message, object)
  const converted = one.conversion?.toStored(object) ?? object
  applyDefaults(stored.message, converted)
  return converted
}

/**
 * The object as it would be stored, and its findings. @param gates drops fields of gates that are off, and decides
 * rules; by default none are dropped
 */
export function created (one: Representation, body: Plain, gates?: Gates): { object: ApiObject, errors: FieldError[] } {
  const { stored, strategy } = one.type
  const object = received(one, body)
  for (const { name, changes = [] } of stored.subresources) {
    if (name === 'status' && strategy.statusOfNew !== true) {
      for (const field of changes) {
        putAt(object as unknown as Record<string, unknown>, field, emptyField(stored.message, field))
      }
    }
  }
  one.rules?.prepare?.(object, undefined)
  if (gates !== undefined) {
    new GatedFields(stored.message, gates).drop(object, undefined)
    strategy.dropGated?.(object, undefined, gates)
  }
  strategy.prepareForCreate?.(object, undefined, gates ?? DEFAULT_GATES)
  applyDefaults(stored.message, object)
  const before = clone(object)
  const errors = [
    ...validateObject(stored, object, gates),
    ...finish(validateVersion(one, { object, old: undefined, subresource: '', gates }))
  ]
  if (JSON.stringify(before) !== JSON.stringify(object)) throw new Error('validation changed the object')
  return { object, errors }
}

/** The same for an update, or for one of a subresource. */
export function updated (
  one: Representation, before: Plain, body: Plain, subresource = '', gates?: Gates
): { object: ApiObject, errors: FieldError[] } {
  const { stored, strategy } = one.type
  const [old, object] = [received(one, before), received(one, body)]
  const named = stored.subresources.find(({ name }) => name === subresource)
  const members = object as unknown as Record<string, unknown>
  if (named === undefined) {
    for (const { changes = [], kind = stored.kind } of stored.subresources) {
      if (kind === stored.kind) for (const path of changes) putAt(members, path, valueAt(old, path))
    }
  }
  one.rules?.prepare?.(object, old)
  if (gates !== undefined) {
    new GatedFields(stored.message, gates).drop(object, old)
    strategy.dropGated?.(object, old, gates)
  }
  strategy.prepareForUpdate?.(object, old, subresource, gates ?? DEFAULT_GATES, Date.now())
  const found = named?.changes === undefined
    ? validateUpdate(stored, object, old, gates)
    : validateSubresource(stored, { object, old }, named, gates)
  return { object, errors: [...found, ...finish(validateVersion(one, { object, old, subresource, gates }))] }
}

export async function creates (
  t: Test, one: Representation, valid: Plain, cases: readonly CreateCase[]
): Promise<void> {
  await t.test(`create ${one.apiVersion} ${one.plural}`, async t => {
    t.same(lines(created(one, valid).errors), [], 'the object that the table changes is valid')
    for (const [title, change, ...findings] of cases) {
      t.same(lines(created(one, merged(valid, change)).errors), [...findings].sort(), title)
    }
  })
}

/** @param subresource the update changes nothing else, as in the server */
export async function updates (
  t: Test, one: Representation, valid: Plain, cases: readonly UpdateCase[], subresource = ''
): Promise<void> {
  await t.test(`update ${one.apiVersion} ${one.plural}${subresource === '' ? '' : `/${subresource}`}`, async t => {
    t.same(lines(updated(one, valid, valid, subresource).errors), [], 'nothing is found where nothing changes')
    for (const [title, before, change, ...findings] of cases) {
      const old = merged(valid, before)
      t.same(lines(updated(one, old, merged(old, change), subresource).errors), [...findings].sort(), title)
    }
  })
}
