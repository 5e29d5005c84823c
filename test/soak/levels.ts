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

/** The level is the median of what was left: single looks differ by what was under way, up and down. */
function medianOf (found: readonly Level[]): number {
  return found.map(({ heap }) => heap).sort((one, other) => one - other)[Math.floor(found.length / 2)] ?? NaN
}

const meanOf = (found: readonly Level[]): number => found.reduce((sum, { heap }) => sum + heap, 0) / found.length

/** What is wrong with them: a look that is not at the level, or a level that is another one at the end than at the beginning. Undefined for nothing. */
export function drift (found: readonly Level[], seconds: number): string | undefined {
  const { from, part } = bound(seconds)
  const looks = found.filter(({ at }) => at >= from)
  const median = medianOf(looks)
  const beside = looks.find(({ heap }) => Math.abs(heap - median) > part * median)
  if (beside !== undefined) return `the heap was ${megabytes(beside.heap)} MB after ${beside.at} s, ${percent(beside.heap / median - 1)} from the level of ${megabytes(median)} MB: it may be ${percent(part)}`
  const third = Math.ceil(looks.length / 3)
  const risen = meanOf(looks.slice(-third)) / meanOf(looks.slice(0, third)) - 1
  return Math.abs(risen) > part ? `the heap changed by ${percent(risen)} from the first third of the looks to the last one: it may change by ${percent(part)}` : undefined
}

export function table (found: readonly Level[], seconds: number): string {
  const { from } = bound(seconds)
  const level = medianOf(found.filter(({ at }) => at >= from))
  const rows = found.map(({ at, heap, memory, resident, descriptors }) => [
    `${at} s`, megabytes(heap), megabytes(memory - heap), megabytes(resident), String(descriptors), at < from ? '' : percent(heap / level - 1)
  ])
  return [['after', 'heap MB', 'external', 'resident', 'descriptors', 'of level'], ...rows].map(row => row.map(cell => cell.padStart(11)).join('')).join('\n')
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
const percent = (part: number): string => `${(part * 100).toFixed(1)} %`
