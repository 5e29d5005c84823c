/** Ownership after a write that is no apply: who changes a field owns it, and nobody else does. */
import { UNCHANGED } from './compare.js'
import type { Changes } from './compare.js'
import { EMPTY, difference, holds, isEmpty, union, without } from './field-set.js'
import type { FieldSet } from './field-set.js'
import { cap, isSame, put } from './managers.js'
import type { Manager, Who } from './managers.js'
import type { Steps } from '../../schemas/steps.js'
import { Comparison } from './versions.js'
import type { Versions } from './versions.js'

export interface Update {
  readonly versions: Versions
  /** Both in the version of `who`; `{}` for an object that was not there. */
  readonly before: object
  readonly after: object
  readonly managers: readonly Manager[]
  readonly who: Who
  /** Seconds precision, RFC 3339. */
  readonly now: () => string
  /** Fields of the object that the write cannot change. */
  readonly ignored?: FieldSet
}

/** In steps. The very same managers when none of their sets has changed. */
export function * update ({ versions, before, after, managers, who, now, ignored = EMPTY }: Update): Steps<readonly Manager[]> {
  const comparison = new Comparison(versions, who.apiVersion, before, after, ignored)
  const changes = comparison.in(who.apiVersion) ?? UNCHANGED
  if (changes === UNCHANGED) return cap(managers) // they may have been sent
  yield
  const others: Manager[] = []
  for (const manager of managers) {
    others.push(isSame(manager, who) ? manager : lose(manager, comparison.in(manager.apiVersion)))
    yield
  }
  const own = managers.find(manager => isSame(manager, who))?.fields ?? EMPTY
  // Mostly who changes a field owns it already.
  const fields = isEmpty(changes.removed) && holds(own, changes.changed) ? own : union(left(own, changes), changes.changed)
  yield
  const owners = put(remaining(others), who, fields, now)
  return owners.length === managers.length && owners.every((owner, index) => owner === managers[index]) ? managers : cap(owners)
}

/** What a manager has left when others have changed the object. */
export function lose (manager: Manager, changes: Changes | undefined): Manager {
  if (changes === undefined) return manager
  const fields = left(manager.fields, changes)
  return fields === manager.fields ? manager : { ...manager, fields }
}

/** What is changed as one takes along what is below: items that have become several have no fields of their own any more. */
const left = (fields: FieldSet, { changed, removed }: Changes): FieldSet => difference(without(fields, changed), removed)

export const remaining = (managers: readonly Manager[]): Manager[] => managers.filter(({ fields }) => !isEmpty(fields))
