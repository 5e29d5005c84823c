/** Preloaded into a server under test: reports what the process holds when it is asked over its channel. */
import { readdirSync } from 'node:fs'

export interface Held {
  /** Open descriptors. */
  readonly descriptors: number
  /** Timers that keep the process alive. */
  readonly timers: number
  /** Reachable bytes. */
  readonly memory: number
  /** Of these, bytes of JavaScript objects. */
  readonly heap: number
  /** Resident bytes of the whole process. */
  readonly resident: number
}

function held (): Held {
  for (let round = 0; round < 3; round++) globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    timers: process.getActiveResourcesInfo().filter(name => name === 'Timeout').length,
    memory: heapUsed + external,
    heap: heapUsed,
    resident: rss
  }
}

process.on('message', () => { process.send?.(held()) })
process.channel?.unref()
