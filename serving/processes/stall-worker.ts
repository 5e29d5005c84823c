/**
 * The thread of `stall-watch.ts`: writes a line when the event loop of its process has not run for some time, one for
 * each stall.
 */
import { writeSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { BEATS, STALL_DESCRIPTOR, WORKED_FOR, type Stalled, type ToThread } from './messages.js'

const { cell, silence } = workerData as { readonly cell: Int32Array, readonly silence: number } // of stall-watch.ts
const likes = new Map<number, ToThread['like']>()

parentPort?.on('message', ({ number, like, forget }: ToThread) => {
  likes.set(number, like)
  likes.delete(forget)
})

let last = -1
let since = performance.now()
let written = false
let lookedAt = since
setInterval(() => {
  const now = performance.now()
  // Time in which this thread did not run either, as while the process is stopped, does not count.
  if (now - lookedAt > silence / 2) since += now - lookedAt
  lookedAt = now
  const beats = Atomics.load(cell, BEATS)
  if (beats !== last) {
    last = beats
    since = now
    written = false
  } else if (!written && now - since >= silence) {
    written = true
    const stalled: Stalled = { like: likes.get(Atomics.load(cell, WORKED_FOR)) }
    try {
      writeSync(STALL_DESCRIPTOR, `${JSON.stringify(stalled)}\n`)
    } catch {} // the supervisor has died, and ends this process
  }
}, silence / 10)
