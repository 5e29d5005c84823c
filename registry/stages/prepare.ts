/** Prepares objects for validation: values that the server decides, fields that the write cannot change. */
import { inNotationOf } from '../../schemas/language/notation.js'
import { emptyField } from '../../schemas/language/plan.js'
import { sameMessages } from '../../schemas/language/presence.js'
import { clone, isIdentical, sameValue, putAt, valueAt } from '../../schemas/language/values.js'
import { nextGeneration } from '../../schemas/meta/object.js'
import type { Subresource } from '../../schemas/subresource.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { keepMetadata } from '../../schemas/meta/status-metadata.js'
import type { ResourceStore } from '../resource-store.js'
import { fillDefaults } from '../outgrown.js'
import { mergeOwnerReferences } from './owner-references.js'
import type { ChangeWrite, CreateWrite } from './writes.js'

type Members = Record<string, unknown>
// An object has its fields as members.
export const membersOf = (object: ApiObject): Members => object as unknown as Members

/** Completes an object that mutating admission may have changed. */
export function complete ({ store, object, oldObject, context, subresource }: CreateWrite | ChangeWrite): void {
  // What is behind a view was stored, not sent.
  const { written, stored, gates } = store
  fillDefaults(subresourceOf(store, subresource)?.view === undefined ? written : stored, gates, object, oldObject)
  store.correctDefaults(object)
  mergeOwnerReferences(object, context.caller, true)
}

/** Prepares a new object whose name is known. */
export function prepareNew (write: CreateWrite): void {
  const { store, object, context: { caller, validate } } = write
  const { user } = caller
  write.findings = validate?.(object, undefined) ?? [] // before what has no effect is dropped
  for (const { name, changes = [] } of store.representation.subresources) {
    if (name !== 'status' || store.strategy.statusOfNew === true) continue
    for (const field of changes) putAt(membersOf(object), field, emptyField(store.stored.message, field))
  }
  store.representation.rules?.prepare?.(object, undefined)
  dropGated(write, undefined)
  store.strategy.prepareForCreate?.(object, user, store.gates, text => { caller.warn?.(text) })
  if (store.generation !== undefined) object.metadata.generation = 1
  if (store.written === store.stored) fillDefaults(store.stored, store.gates, object) // some depend on the name
  store.correctDefaults(object)
}

/**
 * Drops what the emulated release does not have, and the old object neither. Early, so that nobody owns it and no
 * webhook sees it. @throws StatusError 400 if the client asked to hear of unknown fields
 */
export function dropUnknown ({ store, object, oldObject, context }: CreateWrite | ChangeWrite): void {
  const unknown = store.gated.dropUnknown(object, oldObject)
  unknown.push(...store.strategy.dropUnknown?.(object, oldObject, store.gates) ?? [])
  if (unknown.length > 0) context.unknown?.(unknown)
}

function dropGated ({ store, object, context }: CreateWrite | ChangeWrite, old: ApiObject | undefined): void {
  for (const text of store.strategy.notKept?.(object, old, store.gates) ?? []) context.caller.warn?.(text)
  store.gated.drop(object, old)
  store.strategy.dropGated?.(object, old, store.gates)
}

/** Keeps metadata that an update may omit or only the server changes. */
export function inherit ({ object: { metadata }, oldObject: { metadata: old } }: ChangeWrite): void {
  const keep = <K extends keyof typeof metadata>(field: K): void => {
    if (old[field] === undefined) delete metadata[field]
    else metadata[field] = old[field]
  }
  if ((metadata.uid ?? '') === '') keep('uid')
  keep('creationTimestamp')
  if (old.deletionTimestamp !== undefined) keep('deletionTimestamp')
  metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds
  keep('generation')
  delete metadata.selfLink
  delete metadata.clusterName
}

/** The declaration of a subresource that is written. */
export const subresourceOf = ({ representation }: ResourceStore, subresource: string): Subresource | undefined =>
  subresource === '' ? undefined : representation.subresources.find(({ name }) => name === subresource)

/** Prepares the replacement of an object. */
export function prepareChange (write: ChangeWrite): void {
  const { store, object, oldObject: old, subresource } = write
  const named = subresourceOf(store, subresource)
  keepUnchanged(store, object, old, named)
  keepMetadata(object, old, named?.keepsMetadata ?? [])
  store.representation.rules?.prepare?.(object, old)
  dropGated(write, old)
  store.strategy.prepareForUpdate?.(object, old, subresource, store.gates, store.clock.wall())
  if (named?.changes === undefined) updateGeneration(store, object, inNotationOf(store.stored.message, object, old))
}

/** Increments the generation if the desired state changed, as it will be stored. */
function updateGeneration (store: ResourceStore, object: ApiObject, old: ApiObject): void {
  const { generation, stored, type } = store
  const desired = generation?.(store.asStored(object))
  if (desired === undefined) return
  const before = generation?.(old)
  const isSame = type.countsEmpty
    ? isIdentical(desired, before)
    : sameValue(desired, before) && sameMessages(stored.message, object, old)
  if (!isSame) object.metadata.generation = nextGeneration(old)
}

/**
 * A write to a subresource changes only its fields; a write to the object changes all others. What is kept is copied,
 * because later stages write into the object.
 */
function keepUnchanged (store: ResourceStore, object: ApiObject, old: ApiObject, named: Subresource | undefined): void {
  const [next, before] = [membersOf(object), membersOf(old)]
  if (named === undefined) {
    const { subresources, kind } = store.representation
    const paths = subresources.flatMap(({ changes = [], kind: own = kind }) => own === kind ? changes : [])
    for (const path of paths) putAt(next, path, clone(valueAt(before, path)))
  } else if (named.changes !== undefined) {
    const changed = named.changes.map(path => [path, valueAt(next, path)] as const)
    for (const field of new Set([...Object.keys(next), ...Object.keys(before)])) {
      if (field === 'metadata' || field === 'kind' || field === 'apiVersion') continue
      if (!isIdentical(next[field], before[field])) putAt(next, field, clone(before[field]))
    }
    for (const [path, value] of changed) putAt(next, path, value)
  }
}

/** What an object keeps of the old one, once its owners are known. */
export function settle ({ store, object, oldObject }: ChangeWrite): void {
  store.strategy.settle?.(object, inNotationOf(store.stored.message, object, oldObject))
}
