/** Options of the verbs, and label selectors. */
import { int64, map, one, bool, list, string, type Static } from '../language/declare.js'
import { message, unversioned as kind } from './package.js'

export type Preconditions = Static<typeof Preconditions>
export const Preconditions = message('Preconditions', 'What must hold for a deletion to go ahead.', {
  uid: string(1, 'The object must have this UID.', { pointer: true }),
  resourceVersion: string(2, 'The object must be at this version.', { pointer: true })
})

const DRY_RUN = 'All: every stage runs, nothing is stored.'
const FIELD_MANAGER = 'Name of whoever makes the change, for managedFields.'
const FIELD_VALIDATION = 'What happens to unknown and repeated fields: Ignore, Warn or Strict.'

export type DeleteOptions = Static<typeof DeleteOptions>
export const DeleteOptions = kind('DeleteOptions', 'How to delete.', {
  gracePeriodSeconds: int64(1, 'Seconds the object may take to end; 0 is at once.', { pointer: true }),
  preconditions: one(2, 'What must hold for the deletion to go ahead, else 409.', Preconditions, { pointer: true }),
  orphanDependents: bool(3, 'The older form of propagationPolicy Orphan; not both.', { pointer: true }),
  propagationPolicy: string(4, 'What happens to dependents.', {
    pointer: true, values: ['Orphan', 'Background', 'Foreground']
  }),
  dryRun: list(5, DRY_RUN, 'string'),
  ignoreStoreReadErrorWithClusterBreakingPotential: bool(
    6, 'Deletes what cannot be read. It is ignored without its feature gate.',
    { pointer: true, since: '1.32', gate: 'AllowUnsafeMalformedObjectDeletion' }
  )
})

export type CreateOptions = Static<typeof CreateOptions>
export const CreateOptions = kind('CreateOptions', 'How to create.', {
  dryRun: list(1, DRY_RUN, 'string'),
  fieldManager: string(3, FIELD_MANAGER),
  fieldValidation: string(4, FIELD_VALIDATION)
})

export type UpdateOptions = Static<typeof UpdateOptions>
export const UpdateOptions = kind('UpdateOptions', 'How to update.', {
  dryRun: list(1, DRY_RUN, 'string'),
  fieldManager: string(2, FIELD_MANAGER),
  fieldValidation: string(3, FIELD_VALIDATION)
})

export type PatchOptions = Static<typeof PatchOptions>
export const PatchOptions = kind('PatchOptions', 'How to patch.', {
  dryRun: list(1, DRY_RUN, 'string'),
  force: bool(2, 'An apply takes over fields of other managers.', { pointer: true }),
  fieldManager: string(3, FIELD_MANAGER),
  fieldValidation: string(4, FIELD_VALIDATION)
})

export const ApplyOptions = kind('ApplyOptions', 'How to apply.', {
  dryRun: list(1, DRY_RUN, 'string'),
  force: bool(2, 'Take over fields of other managers.', { required: true }),
  fieldManager: string(3, FIELD_MANAGER, { required: true })
})

export const GetOptions = kind('GetOptions', 'How to get.', {
  resourceVersion: string(1, 'How recent the answer must be.')
})

export type ListOptions = Static<typeof ListOptions>
export const ListOptions = kind('ListOptions', 'What to list or watch.', {
  labelSelector: string(1, 'Only objects whose labels match.'),
  fieldSelector: string(2, 'Only objects whose fields match.'),
  watch: bool(3, 'A stream of changes in place of a list.'),
  allowWatchBookmarks: bool(9, 'The watch may tell its progress by BOOKMARK events.'),
  resourceVersion: string(4, 'How recent the list must be, or where the watch begins.'),
  resourceVersionMatch: string(10, 'What resourceVersion means for a list.', { values: ['NotOlderThan', 'Exact'] }),
  timeoutSeconds: int64(5, 'Ends the call after so many seconds.', { pointer: true }),
  limit: int64(7, 'At most so many items; the answer then carries a continue token.'),
  continue: string(8, 'Token of the page to answer.'),
  sendInitialEvents: bool(11, 'The watch begins with what there is, and a bookmark after it.', {
    pointer: true, since: '1.27', gate: 'WatchList'
  }),
  shardSelector: string(15, 'Only objects of a part of all.', { since: '1.36', gate: 'ShardedListAndWatch' })
})

export const TableOptions = kind('TableOptions', 'What the rows of a table carry.', {
  includeObject: string(1, 'How much of each object is in its row.', { values: ['None', 'Metadata', 'Object'] })
})

export type LabelSelectorRequirement = Static<typeof LabelSelectorRequirement>
export const LabelSelectorRequirement = message('LabelSelectorRequirement', 'One condition on a label.', {
  key: string(1, 'Key of the label.', {
    required: true, mayBeEmpty: true, patchStrategy: 'merge', patchMergeKey: 'key'
  }),
  operator: string(2, 'How the label relates to the values.', {
    required: true, mayBeEmpty: true, values: ['In', 'NotIn', 'Exists', 'DoesNotExist']
  }),
  values: list(3, 'One or more for In and NotIn, none for the others.', 'string')
})

export type FieldSelectorRequirement = Static<typeof FieldSelectorRequirement>
export const FieldSelectorRequirement = message('FieldSelectorRequirement', 'One condition on a field.', {
  key: string(1, 'Path of the field, such as spec.nodeName.', { required: true, mayBeEmpty: true }),
  operator: string(2, 'How the field relates to the values.', {
    required: true, mayBeEmpty: true, values: ['In', 'NotIn', 'Exists', 'DoesNotExist']
  }),
  values: list(3, 'One or more for In and NotIn, none for the others.', 'string', { listType: 'atomic' })
})

export type LabelSelector = Static<typeof LabelSelector>
export const LabelSelector =
  message('LabelSelector', 'Conditions on labels, all of which must hold; none at all match everything.', {
    matchLabels: map(1, 'Labels that must have exactly these values.', 'string'),
    matchExpressions: list(2, 'Further conditions.', LabelSelectorRequirement)
  }, { structType: 'atomic' })
