/**
 * The reachable heap over time: at intervals the load pauses, collections are forced, and the rest is recorded. In a
 * long run the pause lasts until the watch caches have dropped the events of the last minute, whose number depends on
 * the load.
 */
import type { Held } from './probe.js'

export interface Level extends Held {
  /** Seconds since the start. */
  readonly at: number
}

const LONG = 900
/** Seconds in which each client has connected and done something. */
const SHORTEST = 2
/** Seconds of load between two samples. */
export const interval = (seconds: number): number =>
  seconds >= LONG ? 270 : Math.min(60, Math.max(SHORTEST, seconds / 10))
/** Seconds without load before a sample: events are kept for 75, and older ones are dropped every 30. */
export const quiet = (seconds: number): number => seconds >= LONG ? 110 : 0

/** Seconds until temporary data, such as the history of a store in memory, has reached its bound. */
const WARM = 600
/** Fraction by which the level may then change. */
const DRIFT = 0.05

/**
 * From which second on the level must hold in a run of that length, and the fraction by which it may change: short runs
 * have less data and may change more.
 */
export function bound (seconds: number): { readonly from: number, readonly part: number } {
  const from = Math.min(WARM, seconds * 2 / 3)
  return { from, part: DRIFT * WARM / from }
}

/** The level is the median: single samples vary with active requests, up and down. */
function medianOf (found: readonly Level[]): number {
  return found.map(({ heap }) => heap).sort((one, other) => one - other)[Math.floor(found.length / 2)] ?? NaN
}

const meanOf = (found: readonly Level[]): number => found.reduce((sum, { heap }) => sum + heap, 0) / found.length

/** Describes a sample off the level, or a level that differs between start and end. Undefined if there is none. */
export function drift (found: readonly Level[], seconds: number): string | undefined {
  const { from, part } = bound(seconds)
  const looks = found.filter(({ at }) => at >= from)
  const median = medianOf(looks)
  const beside = looks.find(({ heap }) => Math.abs(heap - median) > part * median)
  if (beside !== undefined) {
    return `the heap was ${megabytes(beside.heap)} MB after ${beside.at} s, ` +
      `${percent(beside.heap / median - 1)} from the level of ${megabytes(median)} MB: it may be ${percent(part)}`
  }
  const third = Math.ceil(looks.length / 3)
  const risen = meanOf(looks.slice(-third)) / meanOf(looks.slice(0, third)) - 1
  return Math.abs(risen) > part
    ? `the heap changed by ${percent(risen)} from the first third of the looks to the last one: ` +
      `it may change by ${percent(part)}`
    : undefined
}

export function table (found: readonly Level[], seconds: number): string {
  const { from } = bound(seconds)
  const level = medianOf(found.filter(({ at }) => at >= from))
  const rows = found.map(({ at, heap, memory, resident, descriptors }) => [
    `${at} s`, megabytes(heap), megabytes(memory - heap), megabytes(resident), String(descriptors),
    at < from ? '' : percent(heap / level - 1)
  ])
  return [['after', 'heap MB', 'external', 'resident', 'descriptors', 'of level'], ...rows].map(row =>
    row.map(cell => cell.padStart(11)).join('')).join('\n')
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
const percent = (part: number): string => `${(part * 100).toFixed(1)} %`
