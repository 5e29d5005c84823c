/** What is in use of a quota, counted from what is there. What an object uses is worked out once for each of its versions. */
import type { ResourceQuota } from '../../schemas/api/core/resourcequotas.js'
import { plus } from '../amounts.js'
import type { Amounts } from '../amounts.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { nextTurn, turnIsOver } from '../../storage/turns.js'
import { evaluatorOf } from './evaluators.js'
import type { Evaluator } from './evaluator.js'
import { scopesOf } from './scopes.js'
import type { Scope } from './scopes.js'

/** Of one version of an object; undefined where it is in none of the scopes. */
interface Known { readonly revision: number, readonly usage: Amounts | undefined }

/** Of objects of resources, by their keys. */
export type Memory = Map<string, Map<string, Known>>

/** The resources that a quota is about, by what it limits. */
export function countedBy (quota: ResourceQuota, resources: ResourceRegistry): ResourceStore[] {
  const names = Object.keys(quota.spec.hard ?? {})
  return resources.all().filter(({ type }) => type.namespaced && !type.virtual && names.some(evaluatorOf(type.group, type.plural).tracks))
}

/**
 * How much of what the quota limits is in use; what nobody counts is left out. And whether some of it is going, and will use
 * nothing in time without another version.
 * @param memory of the quota and its namespace, kept from one count to the next
 * @throws StorageError as reads do
 */
export async function countUsed (quota: ResourceQuota, stores: readonly ResourceStore[], memory: Memory): Promise<{ readonly used: Amounts, readonly terminating: boolean }> {
  const names = Object.keys(quota.spec.hard ?? {})
  const scopes = scopesOf(quota)
  const used: Record<string, string> = {}
  let terminating = false
  for (const store of stores) {
    const { group, plural } = store.type
    const evaluator = evaluatorOf(group, plural)
    const tracked = new Set(names.filter(evaluator.tracks))
    const entries = await entriesOf(store, quota.metadata.namespace ?? '')
    const sum = evaluator.countsOnly !== true ? await sumOf(store, entries, evaluator, scopes, tracked, memory) : scopes.length > 0 ? {} : Object.fromEntries([...tracked].map(name => [name, String(entries.length)]))
    if ((memory.get(store.type.plural)?.size ?? entries.length) < entries.length) terminating = true
    for (const name of tracked) used[name] = sum[name] ?? '0'
  }
  return { used, terminating }
}

async function sumOf (store: ResourceStore, entries: readonly Entry[], evaluator: Evaluator, scopes: readonly Scope[], tracked: ReadonlySet<string>, memory: Memory): Promise<Amounts> {
  const now = Date.now()
  const before = memory.get(store.type.plural)
  const kept = new Map<string, Known>()
  memory.set(store.type.plural, kept)
  const alike = new Map<string, { readonly usage: Amounts, count: number }>()
  for (const entry of entries) {
    if (turnIsOver()) await nextTurn()
    const known = before?.get(entry.key)
    const usage = known?.revision === entry.revision ? known.usage : usageOf(store, entry, evaluator, scopes, tracked, now, kept)
    if (known?.revision === entry.revision) kept.set(entry.key, known)
    if (usage === undefined) continue
    const key = JSON.stringify(usage)
    const group = alike.get(key)
    if (group === undefined) alike.set(key, { usage, count: 1 })
    else group.count++
  }
  let sum: Amounts = {}
  for (const { usage, count } of alike.values()) sum = plus(sum, times(usage, count))
  return sum
}

/** By doubling, as sums are what quantities have. */
function times (usage: Amounts, count: number): Amounts {
  let [sum, power]: [Amounts, Amounts] = [{}, usage]
  for (let rest = count; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) sum = plus(sum, power)
    power = plus(power, power)
  }
  return sum
}

function usageOf (store: ResourceStore, entry: Entry, evaluator: Evaluator, scopes: readonly Scope[], tracked: ReadonlySet<string>, now: number, kept: Map<string, Known>): Amounts | undefined {
  const object = store.readStored(entry)
  const isIn = scopes.every(scope => evaluator.isIn(object, scope))
  const usage = isIn ? Object.fromEntries(Object.entries(evaluator.usage(object, now)).filter(([name]) => tracked.has(name))) : undefined
  // One that is going is looked at again.
  if (object.metadata.deletionTimestamp === undefined) kept.set(entry.key, { revision: entry.revision, usage })
  return usage
}

async function entriesOf (store: ResourceStore, namespace: string): Promise<Entry[]> {
  const { start, end } = store.range(namespace)
  if (store.cache === undefined) {
    const { kvs } = await store.backend.list({ start, end })
    return kvs.map(kv => store.decode(kv, kv.modRevision))
  }
  await store.cache.fresh()
  const found: Entry[] = []
  store.cache.snapshot.map.forEach(start, end, entry => {
    found.push(entry)
    return true
  })
  return found
}
