/**
 * From what a client wants to what is stored, in one order for every verb that writes:
 *
 *     defaults (at decoding: of a body, of what a patch makes, of what is read from the store)
 *     → mutating admission → defaults of what it has set
 *     → prepare: what the server decides, whatever the client or admission said
 *     → who owns which field: of a new object before mutating admission, of a change behind validation
 *     → allocation: what no other object may have
 *     → validation → validating admission → the write
 *
 * All of it runs inside the read-modify-write loop, on every attempt.
 */
import { applyDefaults, emptyField, nextGeneration, putAt, sameMessages, sameValue, validateObject, validateSubresource, validateUpdate, valueAt } from '../../schemas/index.js'
import type { ApiObject, FieldError, Subresource } from '../../schemas/index.js'
import { keepMetadata } from '../../schemas/meta/status-metadata.js'
import type { AdmissionRequest } from '../admission.js'
import type { ResourceStore } from '../resource-store.js'
import { inTurns, isLarge, nextTurn } from '../../storage/turns.js'
import { refuse } from './context.js'
import type { WriteContext } from './context.js'

type Members = Record<string, unknown>
const members = (object: ApiObject): Members => object as unknown as Members // objects of a message have their fields by name

/** Mutating admission. Nothing the server decides has been set yet. */
export async function mutate (store: ResourceStore, request: AdmissionRequest, object: ApiObject): Promise<void> {
  await store.admission.mutate(request)
  applyDefaults(store.stored.message, object)
}

/** Prepares a new object whose name is known. */
export function prepareNew (store: ResourceStore, object: ApiObject, user: WriteContext['user']): void {
  for (const { name, changes = [] } of store.stored.subresources) {
    if (name === 'status' && store.strategy.statusOfNew !== true) for (const field of changes) members(object)[field] = emptyField(store.stored.message, field)
  }
  store.representation.rules?.prepare?.(object, undefined)
  store.strategy.dropGated?.(object, undefined)
  store.strategy.prepareForCreate?.(object, user)
  if (store.type.generation !== undefined) object.metadata.generation = 1
  applyDefaults(store.stored.message, object) // some follow from the name
}

/** Validates it. @throws StatusError 422 */
export async function validateNew (store: ResourceStore, object: ApiObject, { warn, size = 0 }: Pick<WriteContext, 'warn' | 'size'>): Promise<void> {
  if (isLarge(size) && store.strategy.judge !== undefined) await inTurns(store.strategy.judge(object, undefined))
  refuse(store, object, [...validateObject(store.stored, object), ...ofVersion(report => store.representation.rules?.create?.(object, report))])
  store.strategy.canonicalize?.(object)
  for (const text of store.strategy.warnings?.(object, undefined) ?? []) warn(text)
  if (isLarge(size)) await nextTurn()
}

const subresourceOf = (store: ResourceStore, subresource: string): Subresource | undefined => subresource === '' ? undefined : store.stored.subresources.find(({ name }) => name === subresource)

/** Prepares what is to replace `old`. */
export function prepareChange (store: ResourceStore, object: ApiObject, old: ApiObject, subresource: string): void {
  const named = subresourceOf(store, subresource)
  keepTheRest(store, object, old, named)
  keepMetadata(object, old, named?.keepsMetadata ?? [])
  store.representation.rules?.prepare?.(object, old)
  store.strategy.dropGated?.(object, old)
  store.strategy.prepareForUpdate?.(object, old, subresource)
  if (named?.changes === undefined) countChange(store, object, old)
}

/** Validates it. @throws StatusError 422 */
export async function validateChange (store: ResourceStore, object: ApiObject, old: ApiObject, subresource: string, size: number, warn: WriteContext['warn']): Promise<void> {
  const named = subresourceOf(store, subresource)
  if (isLarge(size) && subresource === '' && store.strategy.judge !== undefined) await inTurns(store.strategy.judge(object, old))
  const findings = named?.changes === undefined && named?.validateUpdate === undefined ? validateUpdate(store.stored, object, old) : validateSubresource(store.stored, object, old, named)
  refuse(store, object, [...findings, ...ofVersion(report => store.representation.rules?.update?.(object, old, report, subresource))])
  store.strategy.canonicalize?.(object)
  if (subresource === '') for (const text of store.strategy.warnings?.(object, old) ?? []) warn(text)
  if (isLarge(size)) await nextTurn()
}

/** What is desired has changed: another generation begins. */
function countChange ({ type: { generation }, stored }: ResourceStore, object: ApiObject, old: ApiObject): void {
  if (generation === undefined) return
  const desired = generation(object)
  if (desired === undefined || (sameValue(desired, generation(old)) && sameMessages(stored.message, object, old))) return
  object.metadata.generation = nextGeneration(old)
}

/** What the version finds that the object was sent in. */
function ofVersion (rules: (report: (error: FieldError) => void) => void): FieldError[] {
  const found: FieldError[] = []
  rules(error => { found.push(error) })
  return found
}

/** A subresource changes its own fields, and its object all others. */
function keepTheRest (store: ResourceStore, object: ApiObject, old: ApiObject, named: Subresource | undefined): void {
  const [next, before] = [members(object), members(old)]
  if (named === undefined) {
    const { subresources, kind } = store.stored
    for (const { changes = [], kind: own = kind } of subresources) if (own === kind) for (const path of changes) putAt(next, path, valueAt(before, path))
  } else if (named.changes !== undefined) {
    const changed = named.changes.map(path => [path, valueAt(next, path)] as const)
    for (const field of new Set([...Object.keys(next), ...Object.keys(before)])) {
      if (field !== 'metadata' && field !== 'kind' && field !== 'apiVersion') putAt(next, field, before[field])
    }
    for (const [path, value] of changed) putAt(next, path, value)
  }
}
