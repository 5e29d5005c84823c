/**
 * Who owns which fields, as it stands in `metadata.managedFields`: the entries as values to compute with, and back. An applier is
 * known by its name and subresource, whoever updates also by the version it speaks: their sets are in the words of that version.
 */
import type { ManagedFieldsEntry } from '../../schemas/meta/v1.js'
import { EMPTY, equals, isEmpty, parseFieldSet, unionAll } from './field-set.js'
import type { FieldSet } from './field-set.js'

export type Operation = 'Apply' | 'Update'

/** Who makes a change. */
export interface Who {
  readonly manager: string
  readonly operation: Operation
  readonly apiVersion: string
  readonly subresource: string
}

export interface Manager extends Who {
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** At most so many entries of updates are kept apart, as upstream. */
const MOST_UPDATERS = 10
/** And so many of applies. Upstream keeps all of them, so that strangers can fill an object; few have more than five. */
const MOST_APPLIERS = 32
const ANCIENT = 'ancient-changes'

export const isSame = (a: Who, b: Who): boolean =>
  a.operation === b.operation && a.manager === b.manager && a.subresource === b.subresource && (a.operation === 'Apply' || a.apiVersion === b.apiVersion)

/** Entries that stand in the store: their sets are ours and taken as they are. */
export function stored (entries: readonly ManagedFieldsEntry[] | undefined): Manager[] {
  return (entries ?? []).map(entry => managerOf(entry, (entry.fieldsV1 ?? EMPTY) as FieldSet)) // written by `entriesOf`
}

function managerOf ({ manager = '', operation, apiVersion = '', subresource = '', time }: ManagedFieldsEntry, fields: FieldSet): Manager {
  return { manager, operation: operation === 'Apply' ? 'Apply' : 'Update', apiVersion, subresource, time, fields }
}

/** True for a list that asks for no owners at all: empty, or of one entry that says nothing. */
export function isReset (entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 0 || (entries.length === 1 && Object.values(entries[0] ?? {}).every(value => value === undefined || value === ''))
}

export interface Unreadable { readonly index: number, readonly detail: string }

/**
 * Entries that a client sent. Undefined where they lack what makes an entry, and so say nothing.
 * @param unreadable told of sets that are none
 */
export function submitted (entries: readonly ManagedFieldsEntry[], unreadable: (finding: Unreadable) => void): Manager[] | undefined {
  const managers = new Map<string, Manager>() // the last one of a manager counts
  const complete = entries.every(({ apiVersion, operation, fieldsType }) => apiVersion !== undefined && fieldsType !== undefined && operation !== undefined)
  entries.forEach((entry, index) => {
    try {
      const made = managerOf(entry, parseFieldSet(entry.fieldsV1 ?? EMPTY))
      const { manager, operation, apiVersion, subresource } = made
      managers.set(JSON.stringify([manager, operation, subresource, ...operation === 'Apply' ? [] : [apiVersion]]), made)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      unreadable({ index, detail: error.message })
    }
  })
  return complete ? [...managers.values()].filter(({ fields }) => !isEmpty(fields)) : undefined
}

/** The entries as they are stored; undefined for none. */
export function entriesOf (managers: readonly Manager[]): ManagedFieldsEntry[] | undefined {
  return managers.length === 0 ? undefined : [...managers].sort(inOrder).map(entryOf)
}

function entryOf ({ manager, operation, apiVersion, subresource, time, fields }: Manager): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = { operation, apiVersion, fieldsType: 'FieldsV1', fieldsV1: fields }
  if (manager !== '') entry.manager = manager
  if (time !== undefined) entry.time = time
  if (subresource !== '') entry.subresource = subresource
  return entry
}

const text = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

/** Appliers first, then by age. */
function inOrder (a: Manager, b: Manager): number {
  return text(a.operation, b.operation) || text(a.time ?? '', b.time ?? '') || text(a.manager, b.manager) || text(a.apiVersion, b.apiVersion) || text(a.subresource, b.subresource)
}

/** The same managers with the set of one in place of what it had. */
export function put (managers: readonly Manager[], who: Who, fields: FieldSet, now: () => string): Manager[] {
  const index = managers.findIndex(other => isSame(other, who))
  const before = managers[index]
  if (isEmpty(fields)) return before === undefined ? [...managers] : managers.filter(other => other !== before)
  if (before !== undefined && before.apiVersion === who.apiVersion && equals(before.fields, fields)) return [...managers]
  const { manager, operation, apiVersion, subresource } = who
  const made: Manager = { manager, operation, apiVersion, subresource, time: now(), fields }
  return before === undefined ? [...managers, made] : managers.with(index, made)
}

/**
 * Merges the oldest entries beyond the caps into `ancient-changes`, one of each version. Merged appliers become updaters: overwriting their
 * fields needs force, and the next apply of theirs no longer removes any.
 * @param keep who writes, and keeps an entry of its own
 */
export function cap (managers: readonly Manager[], keep?: Who): readonly Manager[] {
  const appliers = managers.filter(({ operation }) => operation === 'Apply')
  if (appliers.length <= MOST_APPLIERS) return capUpdaters(managers)
  const age = (one: Manager): number => keep !== undefined && isSame(one, keep) ? 1 : 0 // who writes is the youngest
  const pools = new Map<string, Manager[]>()
  for (const old of appliers.sort((a, b) => age(a) - age(b) || byAge(a, b)).slice(0, appliers.length - MOST_APPLIERS)) {
    const pool = pools.get(old.apiVersion)
    if (pool === undefined) pools.set(old.apiVersion, [old])
    else pool.push(old)
  }
  for (const one of managers) if (one.manager === ANCIENT && one.operation === 'Update') pools.get(one.apiVersion)?.push(one)
  const merged = new Set([...pools.values()].flat())
  return capUpdaters([...managers.filter(one => !merged.has(one)), ...[...pools.values()].map(together)])
}

const byAge = (a: Manager, b: Manager): number => text(a.time ?? '', b.time ?? '') || text(a.manager, b.manager)

function capUpdaters (managers: readonly Manager[]): readonly Manager[] {
  const updaters = managers.filter(({ operation }) => operation === 'Update')
  if (updaters.length <= MOST_UPDATERS) return managers
  const pools = new Map<string, Set<Manager>>()
  let count = updaters.length
  for (const updater of updaters.sort(byAge)) {
    if (count <= MOST_UPDATERS) break
    // What was merged before goes with what is merged now.
    const pool = pools.get(updater.apiVersion) ?? new Set(updaters.filter(({ manager, apiVersion }) => manager === ANCIENT && apiVersion === updater.apiVersion))
    if (!pool.has(updater) && pool.size > 0) count--
    pools.set(updater.apiVersion, pool.add(updater))
  }
  const merged = [...pools.values()].filter(({ size }) => size > 1)
  const gone = new Set(merged.flatMap(pool => [...pool]))
  return [...managers.filter(one => !gone.has(one)), ...merged.map(pool => together([...pool]))]
}

function together (pool: readonly Manager[]): Manager {
  const times = pool.flatMap(({ time }) => time ?? []).sort()
  return { manager: ANCIENT, operation: 'Update', apiVersion: pool[0]?.apiVersion ?? '', subresource: '', time: times.at(-1), fields: unionAll(pool.map(({ fields }) => fields)) }
}
