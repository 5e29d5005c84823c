/** Counts the actual usage of a quota. The usage of each object version is computed once. */
import type { ResourceQuota } from '../../schemas/api/core/resourcequotas.js'
import { plus, type Amounts } from '../amounts.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { evaluatorOf } from './evaluators.js'
import type { Evaluator } from './evaluator.js'
import { scopesOf, type Scope } from './scopes.js'

/** Usage of one version of an object; undefined if it is out of scope. */
interface CachedUsage { readonly revision: number, readonly usage: Amounts | undefined }

/** Cached usage by resource and key. */
export type UsageCache = Map<string, Map<string, CachedUsage>>

/** The resources that a quota limits. */
export function countedBy (quota: ResourceQuota, resources: ResourceRegistry): ResourceStore[] {
  const names = Object.keys(quota.spec.hard ?? {})
  return resources.all().filter(({ type }) => type.namespaced && !type.virtual &&
    names.some(evaluatorOf(resources, type.group, type.plural).tracks))
}

/**
 * The usage of what the quota limits, without names that nothing tracks, and whether some counted objects are
 * terminating, whose usage may end without a new version.
 * @param memory of the quota, kept between counts
 * @throws StorageError as reads do
 */
export async function countUsed (
  quota: ResourceQuota, stores: readonly ResourceStore[], memory: UsageCache, resources: ResourceRegistry
): Promise<{ readonly used: Amounts, readonly terminating: boolean }> {
  const names = Object.keys(quota.spec.hard ?? {})
  const scopes = scopesOf(quota)
  let used: Amounts = {}
  let terminating = false
  for (const store of stores) {
    const { group, plural } = store.type
    const evaluator = evaluatorOf(resources, group, plural)
    const tracked = new Set(names.filter(evaluator.tracks))
    const entries = await entriesOf(store, quota.metadata.namespace ?? '')
    const sum = evaluator.countsOnly !== true
      ? await sumOf({ store, evaluator, scopes, tracked }, entries, memory)
      : scopes.length > 0
        ? {}
        : Object.fromEntries([...tracked].map(name => [name, String(entries.length)]))
    if ((memory.get(store.type.plural)?.size ?? entries.length) < entries.length) terminating = true
    // Two resources may count by one name.
    used = plus(used, Object.fromEntries([...tracked].map(name => [name, sum[name] ?? '0'])))
  }
  return { used, terminating }
}

/** What a quota counts of a resource. */
interface Counted {
  readonly store: ResourceStore
  readonly evaluator: Evaluator
  readonly scopes: readonly Scope[]
  /** Names. */
  readonly tracked: ReadonlySet<string>
}

async function sumOf (counted: Counted, entries: readonly Entry[], memory: UsageCache): Promise<Amounts> {
  const { store } = counted
  const now = store.clock.wall()
  const before = memory.get(store.type.plural)
  const current = new Map<string, CachedUsage>()
  memory.set(store.type.plural, current)
  const groups = new Map<string, { readonly usage: Amounts, count: number }>()
  for (const entry of entries) {
    if (turnIsOver()) await nextTurn()
    const previous = before?.get(entry.key)
    const usage = previous?.revision === entry.revision
      ? previous.usage
      : usageOf(counted, entry, now, current)
    if (previous?.revision === entry.revision) current.set(entry.key, previous)
    if (usage === undefined) continue
    const key = JSON.stringify(usage)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { usage, count: 1 })
    else group.count++
  }
  let sum: Amounts = {}
  for (const { usage, count } of groups.values()) sum = plus(sum, multiply(usage, count))
  return sum
}

/** Multiplies by doubling, because quantities only support addition. */
function multiply (usage: Amounts, count: number): Amounts {
  let [sum, power]: [Amounts, Amounts] = [{}, usage]
  for (let bits = count; bits > 0; bits = Math.floor(bits / 2)) {
    if (bits % 2 === 1) sum = plus(sum, power)
    power = plus(power, power)
  }
  return sum
}

function usageOf (
  { store, evaluator, scopes, tracked }: Counted, entry: Entry, now: number, current: Map<string, CachedUsage>
): Amounts | undefined {
  const object = store.entries.read(entry)
  const isIn = scopes.every(scope => evaluator.isIn(object, scope))
  const usage = isIn
    ? Object.fromEntries(Object.entries(evaluator.usage(object, now)).filter(([name]) => tracked.has(name)))
    : undefined
  // Terminating objects are evaluated each time.
  if (object.metadata.deletionTimestamp === undefined) current.set(entry.key, { revision: entry.revision, usage })
  return usage
}

async function entriesOf (store: ResourceStore, namespace: string): Promise<Entry[]> {
  const { start, end } = store.keys.range(namespace)
  if (store.cache === undefined) {
    const { kvs } = await store.backend.list({ start, end })
    return kvs.map(kv => store.entries.decode(kv, kv.modRevision))
  }
  await store.cache.fresh()
  const entries: Entry[] = []
  store.cache.snapshot.map.forEach(start, end, entry => {
    entries.push(entry)
    return true
  })
  return entries
}
