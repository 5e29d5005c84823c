/**
 * A simulated cluster whose pods come and go for a while: no event is lost, no informer lists again, and what the
 * server holds when no pod is left stays the same.
 */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { startCluster } from '../benchmarks/cluster.js'
import type { Ends } from '../benchmarks/ends.js'
import { memory } from '../benchmarks/process.js'
import { median, quantile } from '../benchmarks/report.js'
import { heldBy, PROBE } from './target.js'

export interface ClusterScale {
  readonly nodes: number
  /** In each cycle. */
  readonly pods: number
  /** Pods a second. */
  readonly rate: number
  /** Milliseconds without pods, between two cycles. */
  readonly rest: number
}

export const CLUSTER: ClusterScale = { nodes: 200, pods: 600, rate: 10, rest: 20_000 }

/** What a cycle has shown. */
export interface Cycle {
  /** Seconds from the start. */
  readonly at: number
  /** Milliseconds of 99 of a hundred status patches. */
  readonly patches: number
  /** The same from a binding until its node agent sees it. */
  readonly seen: number
  /**
   * Megabytes that the server's process has at its end. Vary with the load, as V8 and malloc keep emptied pages for a
   * while.
   */
  readonly memory: number
  /** Megabytes of JavaScript objects that a collection leaves then. */
  readonly heap: number
}

/** Cycles before the server has loaded and compiled all that it needs, and its windows of events are full. */
const WARM_SECONDS = 600
const MAX_GROWTH = 1.1

/** Why what the server holds has not kept its level, if so; undefined for runs too short to tell. */
export function growth (cycles: readonly Cycle[], warm = WARM_SECONDS): string | undefined {
  const late = cycles.filter(({ at }) => at > warm).map(cycle => cycle.heap)
  const third = Math.floor(late.length / 3)
  if (third === 0) return undefined
  const [first, last] = [median(late.slice(0, third)), median(late.slice(-third))]
  return last > first * MAX_GROWTH
    ? `the server held ${first.toFixed(0)} MB in the first third of its cycles, ${last.toFixed(0)} MB in the last`
    : undefined
}

/** @throws Error if an event was lost, an informer restarted, a request failed, or the heap grew */
export async function soakCluster (
  ends: Ends, seconds: number, { nodes, pods, rate, rest }: ClusterScale, each: (cycle: Cycle) => void = () => {}
): Promise<Cycle[]> {
  const { server, tally, control, check } = await startCluster(
    ends, nodes, 'embedded', ['--expose-gc', '--import', PROBE]
  )
  const since = performance.now()
  const passed = (): number => (performance.now() - since) / 1000
  const cycles: Cycle[] = []
  while (passed() < seconds) {
    await control.up(pods, rate)
    await control.down(rate)
    await check()
    await control.forgetEvents()
    tally.bound.clear()
    tally.arrived.clear()
    await sleep(rest)
    const cycle = {
      at: passed(), patches: quantile(tally.patches.splice(0), 0.99), seen: quantile(tally.seen.splice(0), 0.99),
      memory: memory(server, 'RssAnon'), heap: (await heldBy(server.process as ChildProcess)).heap / 1e6
    }
    cycles.push(cycle)
    each(cycle)
  }
  const grown = growth(cycles)
  if (grown !== undefined) throw new Error(grown)
  return cycles
}
