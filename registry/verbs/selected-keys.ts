/** The keys that a selector leaves of a type: a range, one key, or the few that an index finds. */
import type { FieldSelectorMatcher } from '../../schemas/selectors/fields.js'
import { badRequest } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { Snapshot } from '../../storage/cache/pins.js'
import type { WatchCache } from '../../storage/cache/watch-cache.js'
import type { ResourceStore } from '../resource-store.js'
import type { ListRequest } from './list-request.js'
import { FOREIGN_TOKEN } from './list-state.js'

/** An index is of use if it finds at most one in as many entries, and at most this many. */
const FEW = 8
const MAX_FOUND = 10_000

/** Range, start key and filter of a page. @throws StatusError 400 for a start out of the range */
export function selection (store: ResourceStore, request: ListRequest, from: string | undefined) {
  const { labels, fields } = request
  const { start, end } = store.keys.range(request.namespace === '' ? namespaceOf(store, fields) : request.namespace)
  const first = from === undefined ? start : start + from
  if (first < start || first >= end) throw badRequest(FOREIGN_TOKEN)
  const everything = labels.empty && fields.empty
  const matches = (entry: Entry): boolean => labels.matches(entry.labels) &&
    (fields.empty || fields.matches(entry.fields))
  return { start, end, first, everything, matches }
}

/** The only namespace whose objects a field selector selects; '' for all. */
const namespaceOf = ({ type }: ResourceStore, { exact }: FieldSelectorMatcher): string =>
  type.namespaced ? exact.get('metadata.namespace') ?? '' : ''

/** The only key that matches, for a field selector on the name in one namespace. */
export function exactKey (
  store: ResourceStore, { fields, namespace }: Pick<ListRequest, 'fields' | 'namespace'>
): string | undefined {
  const name = fields.exact.get('metadata.name')
  const within = namespace === '' ? fields.exact.get('metadata.namespace') : namespace
  if (name === undefined || name === '' || (store.type.namespaced && (within === undefined || within === ''))) {
    return undefined
  }
  return store.keys.of(within ?? '', name)
}

/** The keys that an index finds for fields that are selected, if they are few: all that match are among them. */
export function fewKeys (
  cache: WatchCache, snapshot: Snapshot, { required }: FieldSelectorMatcher
): ReadonlySet<string> | undefined {
  const keys = cache.keysWith(snapshot, required)
  return keys !== undefined && keys.size <= Math.min(MAX_FOUND, snapshot.map.size / FEW) ? keys : undefined
}

/** In order. */
export const keysWithin = (keys: ReadonlySet<string>, start: string, end: string): string[] =>
  [...keys].filter(key => key >= start && key < end).sort()
