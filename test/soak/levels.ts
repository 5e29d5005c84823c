/**
 * How much of the heap is reachable as time goes on: now and then the load rests, collections are forced, and what is left is written down.
 * In a long run it rests until the watch caches have let go of the last minute of events, whose number is that of the requests served then.
 */
import type { Held } from './probe.js'

export interface Level extends Held {
  /** Seconds since the beginning. */
  readonly at: number
}

const LONG = 900
/** Seconds of load between two looks. */
export const interval = (seconds: number): number => seconds >= LONG ? 270 : Math.min(60, seconds / 10)
/** Seconds without load before a look: events are kept for 75, and those that are older are dropped every 30. */
export const quiet = (seconds: number): number => seconds >= LONG ? 110 : 0

/** Seconds until all that is kept for a while, such as the history of a store in memory, is at its bound. */
const WARM = 600
/** Part of the level by which it may change from then on. */
const DRIFT = 0.05

/** From when on the level has to hold in a run of so many seconds, and by which part it may change: short runs have seen less, and may more. */
export function bound (seconds: number): { readonly from: number, readonly part: number } {
  const from = Math.min(WARM, seconds * 2 / 3)
  return { from, part: DRIFT * WARM / from }
}

/** What is wrong with them; undefined for nothing. */
export function drift (found: readonly Level[], seconds: number): string | undefined {
  const { from, part } = bound(seconds)
  const [first, ...others] = found.filter(({ at }) => at >= from)
  if (first === undefined) return undefined
  const worst = others.reduce((one, other) => Math.abs(other.heap - first.heap) > Math.abs(one.heap - first.heap) ? other : one, first)
  const changed = (worst.heap - first.heap) / first.heap
  return Math.abs(changed) <= part ? undefined : `the heap was ${megabytes(first.heap)} MB after ${first.at} s and ${megabytes(worst.heap)} MB after ${worst.at} s: it may change by ${percent(part)}, and did by ${percent(changed)}`
}

export function table (found: readonly Level[], seconds: number): string {
  const { from } = bound(seconds)
  const first = found.find(({ at }) => at >= from)
  const rows = found.map(({ at, heap, memory, resident, descriptors }) => [
    `${at} s`, megabytes(heap), megabytes(memory - heap), megabytes(resident), String(descriptors), first === undefined || at < from ? '' : percent(heap / first.heap - 1)
  ])
  return [['after', 'heap MB', 'external', 'resident', 'descriptors', 'change'], ...rows].map(row => row.map(cell => cell.padStart(11)).join('')).join('\n')
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
const percent = (part: number): string => `${(part * 100).toFixed(1)} %`
