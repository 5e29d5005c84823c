/** Summarizes memory, active handles and caches for humans. Contains no object names and no secrets. */
import { resourceLabel } from '../schemas/resource.js'
import type { ResourceRegistry } from './resource-registry.js'

export interface State {
  readonly uptimeSeconds: number
  readonly node: string
  /** In bytes. */
  readonly memory: Readonly<Record<string, number>>
  /** Active handles and requests of Node, by type. */
  readonly active: Readonly<Record<string, number>>
  /** By resource. */
  readonly caches: Readonly<Record<string, CacheState>>
}

export interface CacheState {
  readonly loaded: boolean
  readonly objects: number
  readonly revision: number
  readonly watches: number
  /** In the window, and the revision after which it has all: a watch from before reads the store. */
  readonly events: number
  readonly eventsSince: number
}

export function stateOf (resources: ResourceRegistry): State {
  const active: Record<string, number> = {}
  for (const type of process.getActiveResourcesInfo()) active[type] = (active[type] ?? 0) + 1
  const caches: Record<string, CacheState> = {}
  for (const { type, cache } of resources.all()) {
    if (cache === undefined) continue
    caches[resourceLabel(type)] = {
      loaded: cache.loaded, objects: cache.size, revision: cache.revision, watches: cache.subscribers,
      events: cache.window.end - cache.window.begin, eventsSince: cache.window.since
    }
  }
  return {
    uptimeSeconds: Math.round(process.uptime()), node: process.version, memory: { ...process.memoryUsage() }, active,
    caches
  }
}

/** As fields of log lines: the process, then each cache in use. */
export function stateFields ({ uptimeSeconds, memory, active, caches }: State): Array<Record<string, unknown>> {
  const inUse = Object.entries(caches).filter(([, { loaded, objects, watches }]) => !loaded || objects > 0 ||
    watches > 0)
  return [{ uptimeSeconds, ...memory, active }, ...inUse.map(([cache, state]) => ({ cache, ...state }))]
}

/** As a table, largest caches first. */
export function stateText ({ uptimeSeconds, node, memory, active, caches }: State): string {
  const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`
  const lines = [
    `Node ${node}, up for ${uptimeSeconds} s`,
    '',
    ...Object.entries(memory).map(([name, bytes]) => `${name.padEnd(16)} ${megabytes(bytes).padStart(12)}`),
    '',
    ...Object.entries(active).sort().map(([name, count]) => `${name.padEnd(32)} ${String(count).padStart(6)}`),
    '',
    `${'CACHE'.padEnd(60)} ${'OBJECTS'.padStart(10)} ${'WATCHES'.padStart(8)} ${'REVISION'.padStart(12)}`,
    ...Object.entries(caches).sort(([, a], [, b]) => b.objects - a.objects)
      .map(([name, { loaded, objects, watches, revision }]) =>
        `${name.padEnd(60)} ${(loaded ? String(objects) : 'loading').padStart(10)} ${String(watches).padStart(8)} ` +
          `${String(revision).padStart(12)}`)
  ]
  return `${lines.join('\n')}\n`
}
