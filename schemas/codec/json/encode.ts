/**
 * Encodes objects as exactly the JSON that upstream sends: kind and apiVersion first, members in declared order, empty
 * optional ones omitted, others null, map keys ascending, no whitespace. It builds text, because JavaScript objects
 * reorder integer-like keys.
 */
import { Facts, type Message, type Plain } from '../../language/types.js'
import { ListMeta as ListMetaMessage, type ListMeta } from '../../meta/object.js'
import { isOfType, planOf, alternativeOf, type Plan, type PlannedField } from '../../language/plan.js'
import { LARGE_OBJECT_BYTES } from '../../limits.js'
import type { ApiObject } from '../../meta/api-object.js'
import type { Representation } from '../../resource.js'
import { finish, type Steps } from '../../steps.js'
import { quote, rawJson, sortedKeys } from './escape.js'

const NOTHING: Plain = Object.freeze({})

/**
 * Compact JSON.
 * @param resourceVersion if given, replaces the one in the metadata ('' omits it)
 * @param omits whether creation times that are not set are left out, as release 1.36 does, rather than null
 */
export const toJson = <T>(message: Message<T>, object: T & object, resourceVersion?: string, omits = false): string =>
  resourceVersion === undefined
    ? jsonOf(message, object, omits)
    : finish(versionedInSteps(planOf(message, omits), object as Plain, resourceVersion))

function jsonOf<T> (message: Message<T>, object: T & object, omits: boolean): string {
  const { special, alternatives } = message[Facts]
  if (special !== undefined) return special.json(object)
  const plan = planOf(message, omits)
  return alternatives !== undefined ? alternative(plan, object) : write(plan, object as Plain)
}

/** In steps: a member each, for a large object. */
function * versionedInSteps (plan: Plan, members: Plain, version: string): Steps<string> {
  let out = typeJson(plan, members)
  for (const field of plan.fields) {
    const value = members[field.name]
    // Only there: a custom resource may have another field of the version's name.
    const text = field.name === 'metadata'
      ? yield * metadataInSteps(field.plan, (value ?? NOTHING) as Plain, version)
      : fieldJson(field, value)
    out = joined(out, field, text)
    if (text !== undefined && text.length > LARGE_OBJECT_BYTES) yield
  }
  return `{${withUnknown(plan, members, out)}}`
}

function * metadataInSteps (plan: Plan, metadata: Plain, version: string): Steps<string> {
  let out = ''
  for (const field of plan.fields) {
    const text = fieldJson(field, field.name === 'resourceVersion' ? version : metadata[field.name])
    out = joined(out, field, text)
    if (text !== undefined && text.length > LARGE_OBJECT_BYTES) yield
  }
  return `{${withUnknown(plan, metadata, out)}}`
}

function write (plan: Plan, object: Plain): string {
  let out = typeJson(plan, object)
  for (const field of plan.fields) out = joined(out, field, fieldJson(field, object[field.name]))
  return `{${withUnknown(plan, object, out)}}`
}

function typeJson ({ message: { type } }: Plan, { kind, apiVersion }: Plain): string {
  if (type === undefined) return ''
  const out = typeof kind === 'string' && kind !== '' ? `"kind":${quote(kind)}` : ''
  if (typeof apiVersion !== 'string' || apiVersion === '') return out
  return `${out}${out === '' ? '' : ','}"apiVersion":${quote(apiVersion)}`
}

const joined = (out: string, { key }: PlannedField, text: string | undefined): string => {
  if (text === undefined) return out
  return out === '' ? key + text : `${out},${key}${text}`
}

function withUnknown ({ message: { type, preserveUnknown }, byName }: Plan, object: Plain, known: string): string {
  if (preserveUnknown === false) return known
  let out = known
  for (const name of sortedKeys(object)) {
    if (byName.has(name) || object[name] === undefined ||
      (type !== undefined && (name === 'kind' || name === 'apiVersion'))) continue
    out += `${out === '' ? '' : ','}${quote(name)}:${rawJson(object[name])}`
  }
  return out
}

/** The JSON of a field's value; undefined when omitted. */
export function fieldJson (field: PlannedField, value: unknown): string | undefined {
  const unset = value === undefined || value === null
  if (value === null && field.nullable) return 'null'
  if (field.anyType && !unset && !isOfType(field, value)) return rawJson(value)
  switch (field.shape) {
    case 'list': {
      if (unset) return field.written ? 'null' : undefined
      const items = value as readonly unknown[] // the shape of the field
      if (items.length === 0) return field.written || field.pointer ? '[]' : undefined
      let out = elementJson(field, items[0])
      for (let index = 1; index < items.length; index++) out += `,${elementJson(field, items[index])}`
      return `[${out}]`
    }
    case 'map': {
      if (unset) return field.written ? 'null' : undefined
      const map = value as Plain // the shape of the field
      const keys = sortedKeys(map)
      if (keys.length === 0) return field.written || field.pointer ? '{}' : undefined
      return `{${keys.map(key => `${quote(key)}:${elementJson(field, map[key])}`).join(',')}}`
    }
    default:
      if (field.scalar !== undefined) {
        if (unset) {
          return field.written ? (field.pointer || field.scalar === 'bytes' ? 'null' : scalar(field.zero)) : undefined
        }
        return value === field.zero && !field.pointer && !field.written ? undefined : scalar(value)
      }
      if (unset && (field.pointer || field.omitted || field.special?.nullable)) {
        return field.written ? 'null' : undefined
      }
      return nested(field, value ?? undefined)
  }
}

/** The JSON of an item of a list, or of a value of a map. */
export function elementJson (field: PlannedField, value: unknown): string {
  if (field.scalar !== undefined) return scalar(value ?? field.zero)
  if (field.element !== undefined) return fieldJson(field.element, value) ?? 'null'
  return nested(field, value)
}

function nested ({ special, alternatives, plan }: PlannedField, value: unknown): string {
  if (special !== undefined) return special.json(value)
  return alternatives ? alternative(plan, value) : write(plan, (value ?? NOTHING) as Plain)
}

function alternative (plan: Plan, value: unknown): string {
  const chosen = alternativeOf(plan, value)
  return (chosen === undefined ? undefined : fieldJson(chosen, value)) ?? 'null'
}

function scalar (value: unknown): string {
  return typeof value === 'string' ? quote(value) : String(value)
}

const EMPTY_STATUS = ',"status":{}}'

/** The text of an object, or its end, without a status in which nothing is. */
export const withoutEmptyStatus = (text: string): string =>
  text.endsWith(EMPTY_STATUS) ? `${text.slice(0, -EMPTY_STATUS.length)}}` : text

/** An object's JSON, split at its resourceVersion so that `joinJson` can insert any. */
export interface SplitJson {
  readonly head: string
  readonly tail: string
}

/** Any version. No earlier string can contain the member, because its quotes would be escaped. */
const VERSION = '"resourceVersion":"0"'

export function * splitJson<T extends ApiObject> (message: Message<T>, object: T, omits = false): Steps<SplitJson> {
  const text = yield * versionedInSteps(planOf(message, omits), object as unknown as Plain, '0')
  const at = text.indexOf(VERSION)
  return { head: text.slice(0, at), tail: text.slice(at + VERSION.length) }
}

export function joinJson ({ head, tail }: SplitJson, resourceVersion: string): string {
  return `${head}"resourceVersion":${quote(resourceVersion)}${tail}`
}

/** The JSON of a list before and after its comma-separated items. */
export function listJson (resource: Pick<Representation, 'listKind' | 'apiVersion'>, metadata: ListMeta): {
  head: string, tail: string
} {
  const type = `"kind":${quote(resource.listKind)},"apiVersion":${quote(resource.apiVersion)}`
  return { head: `{${type},"metadata":${toJson(ListMetaMessage, metadata)},"items":[`, tail: ']}' }
}
