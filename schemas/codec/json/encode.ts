/**
 * Objects to the exact JSON of the wire: kind and apiVersion first, members in declared order, optional ones left
 * out when empty, the others written as null, map keys ascending, and no byte more. The text is put together
 * directly, because a JavaScript object can't hold every order of keys.
 */
import { Facts } from '../../language/types.js'
import type { Message, Plain } from '../../language/types.js'
import type { ListMeta } from '../../meta/object.js'
import { ListMeta as ListMetaMessage } from '../../meta/object.js'
import { alternativeOf, planOf } from '../../language/plan.js'
import type { Plan, PlannedField } from '../../language/plan.js'
import type { ApiObject, Representation } from '../../resource.js'
import { quote, rawJson, sortedKeys } from './escape.js'

const NOTHING: Plain = Object.freeze({})

/** Compact, without a newline at the end. `resourceVersion`, when given, stands in place of that of the metadata ('' leaves it out). */
export function toJson<T> (message: Message<T>, object: T & object, resourceVersion?: string): string {
  const { special, alternatives } = message[Facts]
  if (special !== undefined) return special.json(object)
  if (alternatives !== undefined) return alternative(planOf(message), object)
  return write(planOf(message), object as Plain, resourceVersion)
}

/** @param version in place of the one in its metadata, or where it is the metadata its own: without a copy of the object */
function write (plan: Plan, object: Plain, version?: string, isMetadata = false): string {
  let out = ''
  const { type } = plan.message
  if (type !== undefined) {
    const { kind, apiVersion } = object
    if (typeof kind === 'string' && kind !== '') out = `"kind":${quote(kind)}`
    if (typeof apiVersion === 'string' && apiVersion !== '') out += `${out === '' ? '' : ','}"apiVersion":${quote(apiVersion)}`
  }
  for (const field of plan.fields) {
    const text = version === undefined ? fieldJson(field, object[field.name]) : versionedJson(field, object[field.name], version, isMetadata)
    if (text !== undefined) out += out === '' ? field.key + text : `,${field.key}${text}`
  }
  if (plan.message.preserveUnknown) {
    for (const name of sortedKeys(object)) {
      if (plan.byName.has(name) || object[name] === undefined || (type !== undefined && (name === 'kind' || name === 'apiVersion'))) continue
      out += `${out === '' ? '' : ','}${quote(name)}:${rawJson(object[name])}`
    }
  }
  return `{${out}}`
}

/** A type defined at run time may have a field of that name beside its metadata. */
function versionedJson (field: PlannedField, value: unknown, version: string, inMetadata: boolean): string | undefined {
  if (inMetadata) return fieldJson(field, field.name === 'resourceVersion' ? version : value)
  return field.name === 'metadata' ? write(field.plan, (value ?? NOTHING) as Plain, version, true) : fieldJson(field, value)
}

/** The JSON of what an object has in a field; undefined when it is left out. */
export function fieldJson (field: PlannedField, value: unknown): string | undefined {
  const unset = value === undefined || value === null
  if (value === null && field.nullable) return 'null'
  switch (field.shape) {
    case 'list': {
      if (unset) return field.written ? 'null' : undefined
      const items = value as readonly unknown[] // a list field holds an array
      if (items.length === 0) return field.written || field.pointer ? '[]' : undefined
      let out = element(field, items[0])
      for (let index = 1; index < items.length; index++) out += `,${element(field, items[index])}`
      return `[${out}]`
    }
    case 'map': {
      if (unset) return field.written ? 'null' : undefined
      const map = value as Plain // a map field holds an object
      const keys = sortedKeys(map)
      if (keys.length === 0) return field.written || field.pointer ? '{}' : undefined
      return `{${keys.map(key => `${quote(key)}:${element(field, map[key])}`).join(',')}}`
    }
    default:
      if (field.scalar !== undefined) {
        if (unset) return field.written ? (field.pointer || field.scalar === 'bytes' ? 'null' : scalar(field.zero)) : undefined
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

/** The JSON of an object cut where its resourceVersion goes: `joinJson` puts one in, any number of times. */
export interface SplitJson {
  readonly head: string
  readonly tail: string
}

export function splitJson<T extends ApiObject> (message: Message<T>, object: T): SplitJson {
  const text = toJson(message, object, '')
  // In the metadata the resourceVersion comes before generation, if there is one, and creationTimestamp, which there always is.
  // No earlier string can hold either: its quotes would be escaped.
  const created = text.indexOf('"creationTimestamp":')
  const generation = text.indexOf('"generation":')
  const at = generation !== -1 && generation < created ? generation : created
  return { head: text.slice(0, at), tail: text.slice(at) }
}

export function joinJson ({ head, tail }: SplitJson, resourceVersion: string): string {
  return `${head}"resourceVersion":${quote(resourceVersion)},${tail}`
}

/** What comes before and after the items of a list; between them go commas. */
export function listJson (resource: Representation, metadata: ListMeta): { head: string, tail: string } {
  const type = `"kind":${quote(resource.listKind)},"apiVersion":${quote(resource.apiVersion)}`
  return { head: `{${type},"metadata":${toJson(ListMetaMessage, metadata)},"items":[`, tail: ']}' }
}
