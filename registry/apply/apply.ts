/** Apply: what somebody says an object must have is put into it, and what they no longer say is taken out. */
import { clone } from '../../schemas/index.js'
import { EMPTY, below, difference, intersection, isEmpty, isMember, part, union, without } from './field-set.js'
import type { FieldSet } from './field-set.js'
import { UNCHANGED } from './compare.js'
import type { Changes } from './compare.js'
import { fieldsOf } from './fields-of.js'
import { cap, isSame, put } from './managers.js'
import type { Manager, Who } from './managers.js'
import { merge } from './merge.js'
import type { Order } from './merge.js'
import { prune } from './prune.js'
import { lose, remaining } from './update.js'
import type { Steps } from '../../schemas/steps.js'
import { Comparison } from './versions.js'
import type { Versions } from './versions.js'

export interface Application {
  readonly versions: Versions
  /** What is there, in the version of `who`; `{}` for nothing. */
  readonly live: object
  /** What was said, in the same version: see `said`. */
  readonly config: object
  readonly managers: readonly Manager[]
  readonly who: Who
  /** What is stored of an object that was put together: decoded, with its defaults, which were said in saying nothing. */
  readonly complete: (object: object) => Steps<object>
  /** Others lose what they have set to another value. */
  readonly force: boolean
  readonly now: () => string
  /** Fields of the object that this write cannot change. */
  readonly ignored?: FieldSet
}

/** Fields that somebody else has set to other values. */
export interface Conflict {
  readonly with: Manager
  readonly fields: FieldSet
}

export interface Applied {
  /** In the version of `who`, complete. */
  readonly object: object
  readonly managers: readonly Manager[]
  /** When there are any, nothing was applied. */
  readonly conflicts: readonly Conflict[]
}

/** In steps. @throws TypeError for a version that is not there */
export function * apply ({ versions, live, config, managers, who, complete, force, now, ignored = EMPTY }: Application): Steps<Applied> {
  const shapes = versions.shapes(who.apiVersion)
  if (shapes === undefined) throw new TypeError(`there is no version ${who.apiVersion}`)
  const fields = without(fieldsOf(shapes.owned, config), ignored)
  yield
  const last = managers.find(manager => isSame(manager, who))
  const others = managers.filter(manager => manager !== last)
  const claims = [...others, { ...who, time: undefined, fields }]
  const making = function * (order: Order): Steps<object> {
    const copy = clone(live)
    yield
    const merged = merge(shapes.whole, copy, config, order) as object // both are objects
    yield
    const pruned = yield * prune({ versions, merged, apiVersion: who.apiVersion, last, claims })
    yield
    return yield * complete(pruned)
  }
  const order: Order = { ofLive: false, moved: false }
  const object = yield * making(order)
  yield

  const comparison = new Comparison(versions, who.apiVersion, live, object, ignored)
  const changes = comparison.in(who.apiVersion) ?? UNCHANGED
  yield
  const own = meant(changes, fields)
  const changesIn = (version: string): Changes | undefined => version === who.apiVersion ? own : comparison.in(version)
  const conflicts: Conflict[] = []
  if (!force) {
    for (const other of others) {
      conflicts.push(...conflictsWith(other, changesIn(other.apiVersion)))
      yield
    }
  }
  if (conflicts.length > 0) return { object: live, managers, conflicts }
  const left: Manager[] = []
  for (const manager of managers) {
    left.push(manager === last ? manager : lose(manager, changesIn(manager.apiVersion)))
    yield
  }
  // The order of items alone is no change.
  const stays = order.moved && changes === UNCHANGED
  return { object: stays ? yield * making({ ofLive: true, moved: false }) : object, managers: cap(put(remaining(left), who, fields, now), who), conflicts }
}

/** What was said to be nothing is changed, not removed; and what was said to be empty is there. */
function meant (changes: Changes, said: FieldSet): Changes {
  const { changed, removed } = changes
  return isEmpty(removed) ? changes : { changed: union(changed, zeros(removed, said)), removed: difference(removed, said) }
}

function zeros (removed: FieldSet, said: FieldSet): FieldSet {
  const found = below(said).flatMap((element): Array<[string, FieldSet]> => {
    const [gone, mine] = [removed[element], said[element] ?? EMPTY]
    if (gone === undefined) return []
    if (isEmpty(gone)) return isMember(mine) ? [[element, EMPTY]] : []
    const within = zeros(gone, mine)
    return isEmpty(within) ? [] : [[element, within]]
  })
  return part(false, found) ?? EMPTY
}

function conflictsWith (other: Manager, changes: Changes | undefined): Conflict[] {
  if (changes === undefined || changes === UNCHANGED) return []
  const fields = intersection(other.fields, changes.changed)
  return isEmpty(fields) ? [] : [{ with: other, fields }]
}

/** Without conflicts over some fields. */
export const except = (conflicts: readonly Conflict[], allowed: FieldSet): Conflict[] =>
  conflicts.map(conflict => ({ ...conflict, fields: difference(conflict.fields, allowed) })).filter(({ fields }) => !isEmpty(fields))
