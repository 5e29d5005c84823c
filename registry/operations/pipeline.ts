/**
 * The stages of a write, in one order for all verbs:
 *
 *     defaults (on decoding a body, a patched object or a stored object)
 *     → mutating admission → defaults of its changes
 *     → prepare: values that the server decides
 *     → field ownership: of a new object before mutating admission, of a change after validation
 *     → allocation of unique values
 *     → validation → validating admission → the write
 *
 * All of it runs inside the read-modify-write loop, on every attempt.
 */
import {
  clone, validateSubresource, emptyField, validateObject, nextGeneration, sameValue, sameMessages, putAt,
  validateUpdate, validateVersion, valueAt, type Subresource, type ApiObject
} from '../../schemas/index.js'
import type { FieldError } from '../../schemas/status.js'
import { keepMetadata } from '../../schemas/meta/status-metadata.js'
import type { AdmissionRequest } from '../admission.js'
import type { ResourceStore } from '../resource-store.js'
import { fillDefaults } from '../outgrown.js'
import { runStepsYielding, isLarge, nextTurn } from '../../event-loop/turns.js'
import { mayGet, refuse, type ObjectWrite, type WriteContext } from './context.js'
import { withOwners } from './field-owners.js'

type Members = Record<string, unknown>
const members = (object: ApiObject): Members => object as unknown as Members // an object has its fields as members

/** Runs mutating admission, before the server sets its own values. */
export async function mutate (store: ResourceStore, request: AdmissionRequest, object: ApiObject): Promise<void> {
  await store.admission.mutate(request)
  fillDefaults(store.stored, object, request.oldObject as ApiObject | undefined) // the replaced object
  store.correctDefaults?.(object)
}

/** Prepares a new object whose name is known. */
export function prepareNew (store: ResourceStore, object: ApiObject, user: WriteContext['user']): void {
  for (const { name, changes = [] } of store.representation.subresources) {
    if (name === 'status' && store.strategy.statusOfNew !== true) for (const field of changes) putAt(members(object), field, emptyField(store.stored.message, field))
  }
  store.representation.rules?.prepare?.(object, undefined)
  dropGated(store, object, undefined)
  store.strategy.prepareForCreate?.(object, user, store.gates)
  if (store.type.generation !== undefined) object.metadata.generation = 1
  fillDefaults(store.stored, object) // some defaults depend on the name
  store.correctDefaults?.(object)
}

function dropGated (store: ResourceStore, object: ApiObject, old: ApiObject | undefined): void {
  store.gated.drop(object, old)
  store.strategy.dropGated?.(object, old, store.gates)
}

/** Validates a new object. @param sent what is wrong with it as it was sent @throws StatusError 422 */
export async function validateNew (
  store: ResourceStore, object: ApiObject, context: Pick<WriteContext, 'warn' | 'size'>, sent: readonly FieldError[]
): Promise<void> {
  const { warn, size = 0 } = context
  const findings = [...validateObject(store.stored, object, store.gates), ...sent]
  const ofVersion = validateVersion(store.representation, object, undefined, '', store.gates)
  refuse(store, object, [...findings, ...await runStepsYielding(ofVersion)])
  store.strategy.canonicalize?.(object)
  for (const text of store.strategy.warnings?.(object, undefined) ?? []) warn(text)
  if (isLarge(size)) await nextTurn()
}

const subresourceOf = (store: ResourceStore, subresource: string): Subresource | undefined => subresource === '' ? undefined : store.representation.subresources.find(({ name }) => name === subresource)

/** Prepares the replacement of `old`. */
export function prepareChange (store: ResourceStore, object: ApiObject, old: ApiObject, subresource: string): void {
  const named = subresourceOf(store, subresource)
  keepUnchanged(store, object, old, named)
  keepMetadata(object, old, named?.keepsMetadata ?? [])
  store.representation.rules?.prepare?.(object, old)
  dropGated(store, object, old)
  store.strategy.prepareForUpdate?.(object, old, subresource, store.gates, store.clock.wall())
  if (named?.changes === undefined) updateGeneration(store, object, old)
}

/** Validates the replacement of `old`. @throws StatusError 422 */
export async function validateChange (
  write: ObjectWrite, object: ApiObject, old: ApiObject, size: number
): Promise<void> {
  const { store, target: { subresource = '' }, context: { warn, validate, fieldManager = '' } } = write
  const named = subresourceOf(store, subresource)
  const findings = named?.changes === undefined && named?.validateUpdate === undefined ? validateUpdate(store.stored, object, old, store.gates) : validateSubresource(store.stored, object, old, named, store.gates)
  const own = [...findings, ...validate?.(object, old) ?? []]
  const ofVersion = validateVersion(store.representation, object, old, subresource, store.gates)
  const all = [...own, ...await runStepsYielding(ofVersion)]
  if (all.length > 0) {
    refuse(store, object, await mayGet(write) ? withOwners(store, all, object, old, fieldManager) : all)
  }
  store.strategy.canonicalize?.(object)
  if (subresource === '') for (const text of store.strategy.warnings?.(object, old) ?? []) warn(text)
  if (isLarge(size)) await nextTurn()
}

/** Increments the generation if the desired state changed. */
function updateGeneration ({ type: { generation }, stored }: ResourceStore, object: ApiObject, old: ApiObject): void {
  if (generation === undefined) return
  const desired = generation(object)
  if (desired === undefined || (sameValue(desired, generation(old)) && sameMessages(stored.message, object, old))) return
  object.metadata.generation = nextGeneration(old)
}

/**
 * A write to a subresource changes only its fields; a write to the object changes all others. What is kept is copied,
 * because later stages write into the object.
 */
function keepUnchanged (store: ResourceStore, object: ApiObject, old: ApiObject, named: Subresource | undefined): void {
  const [next, before] = [members(object), members(old)]
  if (named === undefined) {
    const { subresources, kind } = store.representation
    const paths = subresources.flatMap(({ changes = [], kind: own = kind }) => own === kind ? changes : [])
    for (const path of paths) putAt(next, path, clone(valueAt(before, path)))
  } else if (named.changes !== undefined) {
    const changed = named.changes.map(path => [path, valueAt(next, path)] as const)
    for (const field of new Set([...Object.keys(next), ...Object.keys(before)])) {
      if (field !== 'metadata' && field !== 'kind' && field !== 'apiVersion') putAt(next, field, clone(before[field]))
    }
    for (const [path, value] of changed) putAt(next, path, value)
  }
}
