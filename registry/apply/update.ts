/** Ownership after a write other than apply: the author of a change owns the changed fields exclusively. */
import { UNCHANGED, type Changes } from './compare.js'
import { without, union, holds, isEmpty, difference, EMPTY, type FieldSet } from './field-set.js'
import { limitManagers, isSame, put, type Manager, type ManagerIdentity } from './managers.js'
import type { Steps, WaitingSteps } from '../../schemas/steps.js'
import { Comparison, type Versions } from './versions.js'

export interface Update {
  readonly versions: Versions
  /** Both in the version of `identity`; `{}` for a new object. */
  readonly before: object
  readonly after: object
  readonly managers: readonly Manager[]
  readonly identity: ManagerIdentity
  /** Seconds precision, RFC 3339. */
  readonly now: () => string
  /** Fields that the write cannot change. */
  readonly ignored?: FieldSet
}

/**
 * Runs in steps. Returns the same managers if no set changed; drops those of versions that the type no longer has with
 * the first change.
 */
export function * update (change: Update): WaitingSteps<readonly Manager[]> {
  const { versions, before, after, managers, identity, now, ignored = EMPTY } = change
  const comparison = yield * Comparison.of({ versions, from: identity.apiVersion, before, after, ignored })
  const changes = comparison.own
  if (changes === UNCHANGED) return limitManagers(managers) // a client may have sent too many
  yield
  const others: Manager[] = []
  for (const manager of managers) {
    if (isSame(manager, identity)) others.push(manager)
    else {
      const theirs = manager.apiVersion === identity.apiVersion ? changes : yield * comparison.in(manager.apiVersion)
      others.push(...yield * withoutChangedFields(manager, theirs))
    }
    yield
  }
  const self = managers.find(manager => isSame(manager, identity))
  const own = self?.fields ?? EMPTY
  // Usually the manager already owns the changed fields.
  const fields = isEmpty(changes.removed) && holds(own, changes.changed)
    ? own
    : union(yield * lostFields(own, changes), changes.changed)
  yield
  const timeOf = isEmpty(changes.changed) ? () => self?.time : now // fields that are only removed are not touched
  const owners = put(remaining(others), identity, fields, timeOf)
  return owners.length === managers.length && owners.every((owner, index) => owner === managers[index])
    ? managers
    : limitManagers(owners)
}

/** Removes changed fields from a manager's set. None if the type no longer has the manager's version. */
export function * withoutChangedFields (manager: Manager, changes: Changes | undefined): Steps<Manager[]> {
  if (changes === undefined) return []
  const fields = yield * lostFields(manager.fields, changes)
  return [fields === manager.fields ? manager : { ...manager, fields }]
}

/**
 * A field that changed as one takes along the fields below it: items that became duplicates have no fields of their
 * own.
 */
function * lostFields (fields: FieldSet, { changed, removed }: Changes): Steps<FieldSet> {
  const kept = without(fields, changed)
  yield
  const left = difference(kept, removed)
  yield
  return left
}

export const remaining = (managers: readonly Manager[]): Manager[] => managers.filter(({ fields }) => !isEmpty(fields))
