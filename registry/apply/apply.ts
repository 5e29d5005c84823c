/**
 * Server-side apply: merges the applied configuration into the live object and removes fields that the manager no
 * longer applies.
 */
import { clone } from '../../schemas/language/values.js'
import {
  without, union, isEmpty, intersection, part, childElements, isMember, difference, EMPTY, type FieldSet
} from './field-set.js'
import { comparing, UNCHANGED, type Changes } from './compare.js'
import { fieldsOf } from './fields-of.js'
import { limitManagers, isSame, owns, put, type Manager, type ManagerIdentity } from './managers.js'
import { applyNulls, merge, type Order } from './merge.js'
import { prune } from './prune.js'
import { withoutChangedFields, remaining } from './update.js'
import type { Steps, WaitingSteps } from '../../schemas/steps.js'
import { Comparison, type Versions } from './versions.js'

export interface Application {
  readonly versions: Versions
  /** The current object in the version of `identity`; `{}` if it does not exist. */
  readonly live: object
  /** The applied configuration in the same version; see `appliedValue` in `config.ts`. */
  readonly config: object
  readonly managers: readonly Manager[]
  readonly identity: ManagerIdentity
  /** Decodes a merged object, which is compared so: a default that was not sent is another value of an atomic field. */
  readonly decode: (object: object) => Steps<object>
  /** Applies the defaults that the configuration left out to a decoded object. */
  readonly complete: (object: object) => void
  /** Takes fields over from other managers instead of reporting conflicts. */
  readonly force: boolean
  readonly now: () => string
  /** Whether a change of owners alone has no time: an entry keeps its own, and a new one has none. */
  readonly timeless?: boolean
  /** Fields that this write cannot change. */
  readonly ignored?: FieldSet
}

/** Fields that another manager owns with other values. */
export interface Conflict {
  readonly with: Manager
  readonly fields: FieldSet
}

export interface Applied {
  /** In the version of `identity`, complete. */
  readonly object: object
  readonly managers: readonly Manager[]
  /** If not empty, nothing was applied. */
  readonly conflicts: readonly Conflict[]
}

/** Runs in steps. @throws TypeError for an unknown version */
export function * apply (application: Application): WaitingSteps<Applied> {
  const { versions, live, config, managers, identity, force, now, timeless, ignored = EMPTY } = application
  const shapes = versions.shapes(identity.apiVersion)
  if (shapes === undefined) throw new TypeError(`there is no version ${identity.apiVersion}`)
  const fields = without(yield * fieldsOf(shapes.owned, config), ignored)
  yield
  const last = managers.find(manager => isSame(manager, identity))
  const others = managers.filter(manager => manager !== last)
  const nextManagers = [...others, { ...identity, time: undefined, fields }]
  const build = function * (order: Order): WaitingSteps<object> {
    const copy = clone(live)
    yield
    const merged = merge(shapes.whole, copy, config, order) as object // both are objects
    yield
    const pruned = yield * prune({ versions, merged, apiVersion: identity.apiVersion, last, managers: nextManagers })
    if (last !== undefined) applyNulls(shapes.whole, pruned, config)
    yield
    return yield * application.decode(pruned)
  }
  const order: Order = { ofLive: false, moved: false }
  const object = yield * build(order)
  yield

  const compared = { versions, from: identity.apiVersion, before: live, after: object, ignored }
  const comparison = yield * Comparison.of(compared)
  yield
  const own = effectiveChanges(comparison.own, fields)
  const changesIn = function * (version: string): WaitingSteps<Changes | undefined> {
    return version === identity.apiVersion ? own : yield * comparison.in(version)
  }
  const conflicts: Conflict[] = []
  if (!force) {
    for (const other of others) {
      conflicts.push(...conflictsWith(other, yield * changesIn(other.apiVersion)))
      yield
    }
  }
  if (conflicts.length > 0) return { object: live, managers, conflicts }
  const left: Manager[] = []
  for (const manager of managers) {
    if (manager === last) left.push(manager)
    else left.push(...yield * withoutChangedFields(manager, yield * changesIn(manager.apiVersion)))
    yield
  }
  application.complete(object)
  yield
  const isSameObject = comparison.own === UNCHANGED ||
    (yield * comparing(shapes.owned, live, object, ignored)) === UNCHANGED
  const keepsTime = isSameObject && (timeless === true || owns(last, identity, fields))
  const owners = put(remaining(left), identity, fields, keepsTime ? () => last?.time : now)
  const answer = { object, managers: limitManagers(owners, identity), conflicts }
  // A change in the order of items alone does not count as a change.
  if (!order.moved || !isSameObject) return answer
  const inOrder = yield * build({ ofLive: true, moved: false })
  application.complete(inOrder)
  return { ...answer, object: inOrder }
}

/** Fields that the configuration sets to null or to an empty value count as changed, not as removed. */
function effectiveChanges (changes: Changes, configFields: FieldSet): Changes {
  const { changed, removed } = changes
  return isEmpty(removed)
    ? changes
    : { changed: union(changed, zeros(removed, configFields)), removed: difference(removed, configFields) }
}

function zeros (removed: FieldSet, configFields: FieldSet): FieldSet {
  const members = childElements(configFields).flatMap((element): Array<[string, FieldSet]> => {
    const [removedPart, mine] = [removed[element], configFields[element] ?? EMPTY]
    if (removedPart === undefined) return []
    if (isEmpty(removedPart)) return isMember(mine) ? [[element, EMPTY]] : []
    const within = zeros(removedPart, mine)
    return isEmpty(within) ? [] : [[element, within]]
  })
  return part(false, members) ?? EMPTY
}

function conflictsWith (other: Manager, changes: Changes | undefined): Conflict[] {
  if (changes === undefined || changes === UNCHANGED) return []
  const fields = intersection(other.fields, changes.changed)
  return isEmpty(fields) ? [] : [{ with: other, fields }]
}

/** Subtracts some fields from conflicts, and conflicts without fields. */
export const conflictsOutside = (conflicts: readonly Conflict[], allowed: FieldSet): Conflict[] =>
  conflicts.map(conflict => ({ ...conflict, fields: difference(conflict.fields, allowed) }))
    .filter(({ fields }) => !isEmpty(fields))
