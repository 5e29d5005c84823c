/**
 * Preloaded into a server (`--import`): measures the CPU time of the main thread in each event loop turn. A parent with
 * an IPC channel sends a message and gets the longest turn since the previous message, in milliseconds. A probed server
 * never sleeps: its loop turns all the time, so that every turn begins and ends with a reading.
 */
import { openSync, readSync } from 'node:fs'

const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
const buffer = Buffer.alloc(64)

/** Nanoseconds of CPU that the main thread has used. */
function used (): number {
  const length = readSync(file, buffer, 0, buffer.length, 0)
  return Number(buffer.toString('latin1', 0, length).split(' ', 1)[0])
}

let longest = 0
let before = used()

function turn (): void {
  const now = used()
  if (now - before > longest) longest = now - before
  before = now
  setImmediate(turn)
}
turn()

process.once('disconnect', () => { process.exit() }) // it would turn for ever
process.on('message', () => {
  process.send?.(longest / 1e6)
  longest = 0
  before = used() // the answer belongs to no request
})
