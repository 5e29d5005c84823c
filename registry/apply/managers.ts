/**
 * Converts `metadata.managedFields` to managers and back. Name and subresource identify an applier; an updater is
 * identified by its version as well. A field set uses the field names of its manager's version.
 */
import type { ManagedFieldsEntry } from '../../schemas/meta/v1.js'
import type { Steps } from '../../schemas/steps.js'
import { newStep, parseFieldSet, isEmpty, equals, unionAll, EMPTY, type FieldSet } from './field-set.js'

export type ManagedFieldsOperation = 'Apply' | 'Update'

/** Identifies the author of a change. */
export interface ManagerIdentity {
  readonly manager: string
  readonly operation: ManagedFieldsOperation
  readonly apiVersion: string
  readonly subresource: string
}

export interface Manager extends ManagerIdentity {
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** Maximum number of separate update entries, as upstream. */
const MAX_UPDATERS = 10
/**
 * Maximum number of apply entries. Upstream has no limit, so clients can fill an object; few objects have more than
 * five.
 */
const MAX_APPLIERS = 32
const LEGACY = 'ancient-changes'

export const isSame = (a: ManagerIdentity, b: ManagerIdentity): boolean =>
  a.operation === b.operation && a.manager === b.manager && a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)

/** Reads stored entries, whose sets are canonical and need no parsing. */
export function managersIn (entries: readonly ManagedFieldsEntry[] | undefined): Manager[] {
  return (entries ?? []).map(entry => managerOf(entry, (entry.fieldsV1 ?? EMPTY) as FieldSet)) // written by `entriesOf`
}

function managerOf (
  { manager = '', operation, apiVersion = '', subresource = '', time }: ManagedFieldsEntry, fields: FieldSet
): Manager {
  return { manager, operation: operation === 'Apply' ? 'Apply' : 'Update', apiVersion, subresource, time, fields }
}

/** True for a list that resets ownership: an empty list, or a single empty entry. */
export function isReset (entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 0 ||
    (entries.length === 1 && Object.values(entries[0] ?? {}).every(value => value === undefined || value === ''))
}

export interface Unreadable { readonly index: number, readonly detail: string }

/**
 * Reads entries that a client sent. Undefined if an entry is incomplete; such lists are ignored.
 * @param onUnreadable receives malformed field sets
 */
export function * submitted (
  entries: readonly ManagedFieldsEntry[], onUnreadable: (finding: Unreadable) => void
): Steps<Manager[] | undefined> {
  const managers = new Map<string, Manager>() // the last entry of a manager wins
  const complete = entries.every(({ apiVersion, operation, fieldsType }) => apiVersion !== undefined &&
    fieldsType !== undefined && operation !== undefined)
  const step = newStep()
  for (const [index, entry] of entries.entries()) {
    try {
      const parsed = managerOf(entry, yield * parseFieldSet(entry.fieldsV1 ?? EMPTY, step))
      const { manager, operation, apiVersion, subresource } = parsed
      managers.set(
        JSON.stringify([manager, operation, subresource, ...operation === 'Apply' ? [] : [apiVersion]]), parsed
      )
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      onUnreadable({ index, detail: error.message })
    }
  }
  return complete ? [...managers.values()].filter(({ fields }) => !isEmpty(fields)) : undefined
}

/** The entries to store; undefined for none. */
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
  return text(a.operation, b.operation) || text(a.time ?? '', b.time ?? '') || text(a.manager, b.manager) ||
    text(a.apiVersion, b.apiVersion) || text(a.subresource, b.subresource)
}

/** Whether a manager's set is this one already. */
export const owns = (
  manager: Manager | undefined, { apiVersion }: ManagerIdentity, fields: FieldSet
): manager is Manager => manager !== undefined && manager.apiVersion === apiVersion && equals(manager.fields, fields)

/** Replaces the field set of one manager. @param timeOf when it has last changed a value that it owns */
export function put (
  managers: readonly Manager[], identity: ManagerIdentity, fields: FieldSet, timeOf: () => string | undefined
): Manager[] {
  const index = managers.findIndex(other => isSame(other, identity))
  const before = managers[index]
  if (isEmpty(fields)) return before === undefined ? [...managers] : managers.filter(other => other !== before)
  const time = timeOf()
  if (owns(before, identity, fields) && before.time === time) return [...managers]
  const { manager, operation, apiVersion, subresource } = identity
  const owner: Manager = { manager, operation, apiVersion, subresource, time, fields }
  return before === undefined ? [...managers, owner] : managers.with(index, owner)
}

/**
 * Merges the oldest entries beyond the limits into `ancient-changes`, one entry per version. Merged appliers become
 * updaters: overwriting their fields then needs force, and their next apply no longer removes fields.
 * @param keep the current manager, whose entry is never merged
 */
export function limitManagers (managers: readonly Manager[], keep?: ManagerIdentity): readonly Manager[] {
  const appliers = managers.filter(({ operation }) => operation === 'Apply')
  if (appliers.length <= MAX_APPLIERS) return limitUpdaters(managers)
  // the current manager counts as the youngest
  const age = (manager: Manager): number => keep !== undefined && isSame(manager, keep) ? 1 : 0
  const pools = new Map<string, Manager[]>()
  for (const old of appliers.sort((a, b) => age(a) - age(b) || byAge(a, b)).slice(0, appliers.length - MAX_APPLIERS)) {
    const pool = pools.get(old.apiVersion)
    if (pool === undefined) pools.set(old.apiVersion, [old])
    else pool.push(old)
  }
  for (const manager of managers) {
    if (manager.manager === LEGACY && manager.operation === 'Update') pools.get(manager.apiVersion)?.push(manager)
  }
  const merged = new Set([...pools.values()].flat())
  return limitUpdaters([...managers.filter(manager => !merged.has(manager)), ...[...pools.values()].map(merge)])
}

const byAge = (a: Manager, b: Manager): number => text(a.time ?? '', b.time ?? '') || text(a.manager, b.manager)

function limitUpdaters (managers: readonly Manager[]): readonly Manager[] {
  const updaters = managers.filter(({ operation }) => operation === 'Update')
  if (updaters.length <= MAX_UPDATERS) return managers
  const pools = new Map<string, Set<Manager>>()
  let count = updaters.length
  for (const updater of updaters.sort(byAge)) {
    if (count <= MAX_UPDATERS) break
    // Join the `ancient-changes` entry that already exists.
    const pool = pools.get(updater.apiVersion) ?? new Set(
      updaters.filter(({ manager, apiVersion }) => manager === LEGACY && apiVersion === updater.apiVersion)
    )
    if (!pool.has(updater) && pool.size > 0) count--
    pools.set(updater.apiVersion, pool.add(updater))
  }
  const merged = [...pools.values()].filter(({ size }) => size > 1)
  const absorbed = new Set(merged.flatMap(pool => [...pool]))
  return [...managers.filter(manager => !absorbed.has(manager)), ...merged.map(pool => merge([...pool]))]
}

function merge (pool: readonly Manager[]): Manager {
  const times = pool.flatMap(({ time }) => time ?? []).sort()
  return {
    manager: LEGACY, operation: 'Update', apiVersion: pool[0]?.apiVersion ?? '', subresource: '', time: times.at(-1),
    fields: unionAll(pool.map(({ fields }) => fields))
  }
}
