/** Metadata of objects and lists. */
import { int64, map, one, bool, list, string, type Static } from '../language/declare.js'
import { message } from './package.js'
import { FieldsV1, Time } from './scalars.js'

export const TypeMeta = message('TypeMeta', 'What an object is.', {
  kind: string(1, 'Kind of the object.'),
  apiVersion: string(2, 'Group and version of the object, or the version alone in the core group.')
})

export type ListMeta = Static<typeof ListMeta>
export const ListMeta = message('ListMeta', 'What a list says about itself.', {
  selfLink: string(1, 'No longer filled in.'),
  resourceVersion: string(2, 'The version of the state the list shows; opaque.'),
  continue: string(3, 'Token of the next page; empty on the last one.'),
  remainingItemCount: int64(4, 'Items that follow after this page; left out when not known.', { pointer: true })
})

export type OwnerReference = Static<typeof OwnerReference>
export const OwnerReference =
  message('OwnerReference', 'An object this one belongs to, in the same namespace or cluster-scoped.', {
    apiVersion: string(5, 'API version of the owner.', { required: true }),
    kind: string(1, 'Kind of the owner.', { required: true }),
    name: string(3, 'Name of the owner.', { required: true }),
    uid: string(4, 'UID of the owner.', { required: true }),
    controller: bool(6, 'True for the one owner that manages this object.', { pointer: true }),
    blockOwnerDeletion: bool(
      7, 'True when a foreground deletion of the owner waits for this object.', { pointer: true }
    )
  }, { structType: 'atomic' })

export type ManagedFieldsEntry = Static<typeof ManagedFieldsEntry>
export const ManagedFieldsEntry = message('ManagedFieldsEntry', 'The fields one manager has set.', {
  manager: string(1, 'Name of the manager.'),
  operation: string(2, 'How the manager set them.', { values: ['Apply', 'Update'] }),
  apiVersion: string(3, 'API version the paths are written in.'),
  time: one(4, 'When the manager last changed them.', Time, { pointer: true }),
  fieldsType: string(6, 'Format of the paths; always FieldsV1.'),
  fieldsV1: one(7, 'The paths as a tree.', FieldsV1, { pointer: true }),
  subresource: string(8, 'Subresource the change came through, empty for the object itself.')
})

export type ObjectMeta = Static<typeof ObjectMeta>
export const ObjectMeta = message('ObjectMeta', 'What every stored object carries.', {
  name: string(
    1, 'Unique among the objects of the type, within its namespace where it has one.', { immutable: 'ruled' }
  ),
  generateName: string(2, 'Prefix of a name the server makes up when none is given.'),
  namespace: string(
    3, 'The namespace the object lives in; empty for types of the whole cluster.', { immutable: 'ruled' }
  ),
  selfLink: string(4, 'No longer filled in.'),
  uid: string(5, 'Made by the server; never used twice.', { immutable: 'ruled' }),
  resourceVersion: string(
    6, 'The version of the last change; opaque. Sent with an update, it must be the current one.'
  ),
  generation: int64(7, 'Counts changes of the desired state, where the type does so.'),
  creationTimestamp: one(
    8, 'CreationTimestamp is a timestamp of when the server created the object.', Time,
    { immutable: 'ruled', mayBeOmitted: true }
  ),
  deletionTimestamp: one(9, 'When deletion was requested; the object goes when its finalizers have.', Time, {
    pointer: true, immutable: 'ruled'
  }),
  deletionGracePeriodSeconds: int64(10, 'Seconds the object may take to end, once deletionTimestamp is set.', {
    pointer: true, immutable: 'ruled'
  }),
  labels: map(11, 'What selectors look at.', 'string'),
  annotations: map(12, 'Anything tools want to keep with the object; not selectable.', 'string'),
  ownerReferences: list(13, 'The objects this one belongs to; when all are deleted it is collected.', OwnerReference, {
    patchStrategy: 'merge', patchMergeKey: 'uid'
  }),
  finalizers: list(
    14, 'Who has still to clean up before the object may go, in no order.', 'string', { patchStrategy: 'merge' }
  ),
  clusterName: string(15, 'No longer filled in.', { immutable: 'ruled', removed: '1.25' }),
  managedFields: list(
    17, 'Which manager set which fields; kept by the server.', ManagedFieldsEntry, { keepsEmpty: true }
  )
})

/** These words, and the first of `creationTimestamp`, are those that conformance tests find with `kubectl explain`. */
export const METADATA_TEXT = "Standard object's metadata."
/** The first field of nearly every kind. */
export const metadata = one(1, METADATA_TEXT, ObjectMeta)

/** The generation after an object's current one. */
export function nextGeneration ({ metadata: { generation = 0 } }: { metadata: ObjectMeta }): number {
  return Number(generation) + 1 // stays below 2^53
}
