/**
 * Encodes objects as exactly the JSON that upstream sends: kind and apiVersion first, members in declared order, empty
 * optional ones omitted, others null, map keys ascending, no whitespace. It builds text, because JavaScript objects
 * reorder integer-like keys.
 */
import { Facts, type Message, type Plain } from '../../language/types.js'
import { ListMeta as ListMetaMessage, type ListMeta } from '../../meta/object.js'
import { isOfType, planOf, alternativeOf, type Plan, type PlannedField } from '../../language/plan.js'
import type { ApiObject, Representation } from '../../resource.js'
import { quote, rawJson, sortedKeys } from './escape.js'

const NOTHING: Plain = Object.freeze({})

/** Compact JSON. `resourceVersion`, if given, replaces the one in the metadata ('' omits it). */
export function toJson<T> (message: Message<T>, object: T & object, resourceVersion?: string): string {
  const { special, alternatives } = message[Facts]
  if (special !== undefined) return special.json(object)
  if (alternatives !== undefined) return alternative(planOf(message), object)
  return write(planOf(message), object as Plain, resourceVersion)
}

/**
 * @param version replaces the resourceVersion in the object's metadata (or in the object, if `isMetadata`) without a
 * copy
 */
function write (plan: Plan, object: Plain, version?: string, isMetadata = false): string {
  let out = ''
  const { type } = plan.message
  if (type !== undefined) {
    const { kind, apiVersion } = object
    if (typeof kind === 'string' && kind !== '') out = `"kind":${quote(kind)}`
    if (typeof apiVersion === 'string' && apiVersion !== '') {
      out += `${out === '' ? '' : ','}"apiVersion":${quote(apiVersion)}`
    }
  }
  for (const field of plan.fields) {
    const text = version === undefined
      ? fieldJson(field, object[field.name])
      : versionedJson(field, object[field.name], version, isMetadata)
    if (text !== undefined) out += out === '' ? field.key + text : `,${field.key}${text}`
  }
  if (plan.message.preserveUnknown !== false) {
    for (const name of sortedKeys(object)) {
      if (plan.byName.has(name) || object[name] === undefined ||
        (type !== undefined && (name === 'kind' || name === 'apiVersion'))) continue
      out += `${out === '' ? '' : ','}${quote(name)}:${rawJson(object[name])}`
    }
  }
  return `{${out}}`
}

/** Only `resourceVersion` inside the metadata is replaced: a custom resource may have another field of that name. */
function versionedJson (field: PlannedField, value: unknown, version: string, inMetadata: boolean): string | undefined {
  if (inMetadata) return fieldJson(field, field.name === 'resourceVersion' ? version : value)
  return field.name === 'metadata'
    ? write(field.plan, (value ?? NOTHING) as Plain, version, true)
    : fieldJson(field, value)
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
      let out = element(field, items[0])
      for (let index = 1; index < items.length; index++) out += `,${element(field, items[index])}`
      return `[${out}]`
    }
    case 'map': {
      if (unset) return field.written ? 'null' : undefined
      const map = value as Plain // the shape of the field
      const keys = sortedKeys(map)
      if (keys.length === 0) return field.written || field.pointer ? '{}' : undefined
      return `{${keys.map(key => `${quote(key)}:${element(field, map[key])}`).join(',')}}`
    }
    default:
      if (field.scalar !== undefined) {
        if (unset) {
          return field.written ? (field.pointer || field.scalar === 'bytes' ? 'null' : scalar(field.zero)) : undefined
        }
        return value === field.zero && !field.pointer && !field.written ? undefined : scalar(value)
      }
      if (unset && (field.pointer || field.special?.nullable)) return field.written ? 'null' : undefined
      return nested(field, value ?? undefined)
  }
}

function element (field: PlannedField, value: unknown): string {
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

/** An object's JSON, split at its resourceVersion so that `joinJson` can insert any. */
export interface SplitJson {
  readonly head: string
  readonly tail: string
}

export function splitJson<T extends ApiObject> (message: Message<T>, object: T): SplitJson {
  const text = toJson(message, object, '')
  // In metadata, resourceVersion precedes generation (if any) and creationTimestamp (always there). No earlier string
  // can contain either key, because its quotes would be escaped.
  const created = text.indexOf('"creationTimestamp":')
  const generation = text.indexOf('"generation":')
  const at = generation !== -1 && generation < created ? generation : created
  return { head: text.slice(0, at), tail: text.slice(at) }
}

export function joinJson ({ head, tail }: SplitJson, resourceVersion: string): string {
  return `${head}"resourceVersion":${quote(resourceVersion)},${tail}`
}

/** The JSON of a list before and after its comma-separated items. */
export function listJson (resource: Pick<Representation, 'listKind' | 'apiVersion'>, metadata: ListMeta): {
  head: string, tail: string
} {
  const type = `"kind":${quote(resource.listKind)},"apiVersion":${quote(resource.apiVersion)}`
  return { head: `{${type},"metadata":${toJson(ListMetaMessage, metadata)},"items":[`, tail: ']}' }
}
