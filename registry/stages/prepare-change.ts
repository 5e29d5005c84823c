/** Prepares the replacement of an object for validation: what the write cannot change stays as it was. */
import { inNotationOf } from '../../schemas/language/notation.js'
import { sameMessages } from '../../schemas/language/presence.js'
import { clone, isIdentical, sameValue, putAt, valueAt } from '../../schemas/language/values.js'
import { nextGeneration } from '../../schemas/meta/object.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { keepMetadata } from '../../schemas/meta/status-metadata.js'
import type { Subresource } from '../../schemas/subresource.js'
import type { ResourceStore } from '../resource-store.js'
import { dropGated, membersOf, subresourceOf } from './prepare.js'
import type { ChangeWrite } from './writes.js'

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
  const desired = generation?.(store.conversion.asStored(object))
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
