/** Apply: what somebody says an object must have is put into it, and what they no longer say is taken out. */
import { clone } from '../../schemas/index.js'
import { EMPTY, below, difference, intersection, isEmpty, isMember, part, paths, setOf, union, without } from './field-set.js'
import type { FieldSet } from './field-set.js'
import { UNCHANGED } from './compare.js'
import type { Changes } from './compare.js'
import { fieldsOf } from './fields-of.js'
import { isSame, put } from './managers.js'
import type { Manager, Who } from './managers.js'
import { merge } from './merge.js'
import type { Order } from './merge.js'
import { prune } from './prune.js'
import { lose, remaining } from './update.js'
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
  readonly complete: (object: object) => object
  /** Others lose what they have set to another value. */
  readonly force: boolean
  readonly now: () => string
  /** Fields of the object that this write cannot change. */
  readonly ignored?: FieldSet
}

/** A field that somebody else has set to another value. */
export interface Conflict {
  readonly with: Manager
  readonly path: readonly string[]
}

export interface Applied {
  /** In the version of `who`, complete. */
  readonly object: object
  readonly managers: readonly Manager[]
  /** When there are any, nothing was applied. */
  readonly conflicts: readonly Conflict[]
}

/** @throws TypeError for a version that is not there */
export function apply ({ versions, live, config, managers, who, complete, force, now, ignored = EMPTY }: Application): Applied {
  const shapes = versions.shapes(who.apiVersion)
  if (shapes === undefined) throw new TypeError(`there is no version ${who.apiVersion}`)
  const fields = without(fieldsOf(shapes.owned, config), ignored)
  const last = managers.find(manager => isSame(manager, who))
  const others = managers.filter(manager => manager !== last)
  const claims = [...others, { ...who, time: undefined, fields }]
  const made = (order: Order): object => {
    const merged = merge(shapes.whole, clone(live), config, order) as object // both are objects
    return complete(prune({ versions, merged, apiVersion: who.apiVersion, last, claims }))
  }
  const order: Order = { ofLive: false, moved: false }
  const object = made(order)

  const comparison = new Comparison(versions, who.apiVersion, live, object, ignored)
  const changes = comparison.in(who.apiVersion) ?? UNCHANGED
  const own = meant(changes, fields)
  const changesIn = (version: string): Changes | undefined => version === who.apiVersion ? own : comparison.in(version)
  const conflicts = force ? [] : others.flatMap(other => conflictsWith(other, changesIn(other.apiVersion)))
  if (conflicts.length > 0) return { object: live, managers, conflicts }
  const left = managers.map(manager => manager === last ? manager : lose(manager, changesIn(manager.apiVersion)))
  // The order of items alone is no change.
  const stays = order.moved && changes === UNCHANGED
  return { object: stays ? made({ ofLive: true, moved: false }) : object, managers: put(remaining(left), who, fields, now), conflicts }
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
  return [...paths(intersection(other.fields, changes.changed))].map(path => ({ with: other, path }))
}

/** Without conflicts over some fields. */
export const except = (conflicts: readonly Conflict[], allowed: FieldSet): Conflict[] =>
  conflicts.filter(({ path }) => !isEmpty(difference(setOf([path]), allowed)))
