/** How long the event loop turns are. */
import { closeSync, openSync, readSync } from 'node:fs'

/** Measures the CPU time of the main thread in each event loop turn, in milliseconds, until it is stopped. */
export function turns (): { readonly stop: () => { longest: number, all: number } } {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const buffer = Buffer.alloc(64)
  const used = (): number => Number(
    buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0)).split(' ', 1)[0]
  ) / 1e6
  const first = used()
  let [longest, before, running] = [0, first, true]
  const turn = (): void => {
    if (!running) return
    const now = used()
    longest = Math.max(longest, now - before)
    before = now
    setImmediate(turn)
  }
  setImmediate(turn)
  return {
    stop: () => {
      running = false
      const all = used() - first
      closeSync(file)
      return { longest, all }
    }
  }
}
