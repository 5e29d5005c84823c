/** Validation of list and map types in schemas, which determine how apply merges custom resources. */
import type { Report } from '../../../language/declare.js'
import { forbidden, invalid, notSupported, required } from '../../../rules/findings.js'
import type { Ratchets } from './ratchets.js'
import { isSchema, type JSONSchemaProps as Schema } from '../schemas.js'

const LIST = 'x-orch-list-type'
const KEYS = 'x-orch-list-map-keys'
const MAP = 'x-orch-map-type'

function checkType ({ type = '' }: Schema, wanted: string, because: string, at: string, report: Report): void {
  const detail = `must be ${wanted} if ${because} is specified`
  if (type === '') required(report, `${at}.type`, detail)
  else if (type !== wanted) invalid(report, `${at}.type`, type, detail)
}

export function validateMapType (schema: Schema, at: string, report: Report): void {
  const kind = schema[MAP]
  if (kind === undefined) return
  checkType(schema, 'object', MAP, at, report)
  if (!['atomic', 'granular'].includes(kind)) notSupported(report, `${at}.${MAP}`, kind, ['atomic', 'granular'])
}

export function validateListType (schema: Schema, at: string, ratchets: Ratchets, report: Report): void {
  const kind = schema[LIST]
  if (kind === undefined && schema[KEYS] === undefined) return
  const keys = schema[KEYS] ?? []
  const items = isSchema(schema.items) ? schema.items : undefined
  if (kind !== undefined) {
    checkType(schema, 'array', LIST, at, report)
    if (ratchets.atomicSets && schema.type === 'array') validateAtomicMembers(schema, at, report)
    if (!['atomic', 'set', 'map'].includes(kind)) notSupported(report, `${at}.${LIST}`, kind, ['atomic', 'set', 'map'])
  }
  if (keys.length > 0 && kind !== 'map') {
    const detail = `must be map if ${KEYS} is non-empty`
    if (kind === undefined) required(report, `${at}.${LIST}`, detail)
    else invalid(report, `${at}.${LIST}`, kind, detail)
  }
  if (kind === 'map') checkKeyed(schema, keys, items, at, report)
  if (ratchets.keysPresent) validateItemsPresent(schema, at, report)
}

/** Items of sets and maps cannot be null, and map items must have their keys. */
export function validateItemsPresent (
  { items, [LIST]: kind, [KEYS]: keys = [] }: Schema, at: string, report: Report
): void {
  if (!isSchema(items) || (kind !== 'map' && kind !== 'set')) return
  if (items.nullable === true) forbidden(report, `${at}.items.nullable`, `cannot be nullable when ${LIST} is ${kind}`)
  if (kind === 'map') checkPresent(items, keys, `${at}.items`, report)
}

/** Items of a set must be atomic, because they are compared as a whole. */
export function validateAtomicMembers ({ items, [LIST]: kind }: Schema, at: string, report: Report): void {
  if (kind !== 'set' || !isSchema(items)) return
  const detail = `must be atomic as item of a list with ${LIST}=set`
  const inner = items[LIST]
  if (items.type === 'array' && inner !== undefined && inner !== 'atomic') {
    invalid(report, `${at}.items.${LIST}`, inner, detail)
  }
  // As upstream, the value of this error is the list type.
  if (items.type === 'object' && items[MAP] !== 'atomic') invalid(report, `${at}.items.${MAP}`, inner ?? null, detail)
}

const MAX_QUOTED = 250

/** The keys that fit into an error message. Each key may have an error that lists all keys. */
function valueOf (keys: readonly string[]): string[] {
  let length = 0
  return keys.filter(({ length: own }) => (length += own + 1) - own <= MAX_QUOTED).map(key => key.slice(0, MAX_QUOTED))
}

function checkKeyed (
  schema: Schema, keys: readonly string[], items: Schema | undefined, at: string, report: Report
): void {
  if (keys.length === 0) required(report, `${at}.${KEYS}`, `must not be empty if ${LIST} is map`)
  if (schema.items === undefined) required(report, `${at}.items`, `must have a schema if ${LIST} is map`)
  else if (items ===
    undefined) invalid(report, `${at}.items`, schema.items, `must only have a single schema if ${LIST} is map`)
  else if (items.type !== 'object') {
    invalid(report, `${at}.items.type`, items.type ?? '', `must be object if parent array's ${LIST} is map`)
  }
  if (items?.type !== 'object') return
  const seen = new Set<string>()
  const value = valueOf(keys)
  for (const key of keys) {
    const property = items.properties !== undefined && Object.hasOwn(items.properties, key)
      ? items.properties[key]
      : undefined
    if (property === undefined) invalid(report, `${at}.${KEYS}`, value, 'entries must all be names of item properties')
    else if (property.type === 'array' || property.type === 'object') {
      invalid(
        report, `${at}.items.properties[${key}].type`, items.type,
        `must be a scalar type if parent array's ${LIST} is map`
      )
    }
    if (seen.has(key)) invalid(report, `${at}.${KEYS}`, value, 'must not contain duplicate entries')
    seen.add(key)
  }
}

/** Each key must be a required property or have a default. */
function checkPresent (
  { properties = {}, required: needed = [] }: Schema, keys: readonly string[], at: string, report: Report
): void {
  const given = new Set(needed)
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (property === undefined) continue
    if (!given.has(key) && property.default === undefined) {
      required(
        report, `${at}.properties[${key}].default`,
        `this property is in ${KEYS}, so it must have a default or be a required property`
      )
    }
    if (property.nullable === true) {
      forbidden(report, `${at}.properties[${key}].nullable`, `this property is in ${KEYS}, so it cannot be nullable`)
    }
  }
}
