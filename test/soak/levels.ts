/** How much of the heap is reachable as time goes on: each minute collections are forced, under load, and the rest is written down. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Held } from './probe.js'

export interface Level extends Held {
  /** Seconds since the beginning. */
  readonly at: number
}

const INTERVAL = 60
/** What requests under way hold comes and goes: of several looks the lowest counts. */
const LOOKS = 5
const BETWEEN_LOOKS = 200
/** Seconds until all that is kept for a while, such as the history of a store in memory, is at its bound. */
const WARM = 600
/** Part of the level by which it may change from then on. */
const DRIFT = 0.05

/** Once a minute, of short runs more often, until it is over. */
export async function levels (held: () => Promise<Held>, seconds: number, signal: AbortSignal): Promise<Level[]> {
  const found: Level[] = []
  const since = performance.now()
  const interval = Math.min(INTERVAL, seconds / 10) * 1000
  try {
    for (let next = interval; next < seconds * 1000 + interval / 2; next += interval) {
      // The last one before the load ends, as it is to be of a server at work.
      await sleep(Math.min(next, seconds * 1000 - (LOOKS + 1) * BETWEEN_LOOKS) - (performance.now() - since), undefined, { signal })
      const at = Math.round((performance.now() - since) / 1000)
      let lowest: Held | undefined
      for (let look = 0; look < LOOKS; look++) {
        const now = await held()
        if (lowest === undefined || now.heap < lowest.heap) lowest = now
        await sleep(BETWEEN_LOOKS, undefined, { signal })
      }
      if (lowest !== undefined) found.push({ at, ...lowest })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return found
}

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
