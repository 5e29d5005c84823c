/**
 * One account of the time that lists and large answers together take in a turn of the event loop. Each by itself
 * would give way in time, but twenty of them would do so one after the other, and nobody else would be heard between.
 */

const TURN_MS = 8

/** When the work of this turn began; 0 when none has yet. */
let since = 0
let scheduled = false
const waiting: Array<() => void> = []

function schedule (): void {
  if (scheduled) return
  scheduled = true
  setImmediate(() => {
    scheduled = false
    since = 0
    waiting.shift()?.()
    if (waiting.length > 0) schedule()
  })
}

/** True when what was done in this turn has lasted long enough, whoever did it: wait for `nextTurn`. */
export function turnIsOver (): boolean {
  const now = performance.now()
  if (since !== 0) return now - since > TURN_MS
  since = now
  schedule()
  return false
}

/** Resolves in a turn of the loop that belongs to the caller, one caller after the other. */
export function nextTurn (): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve)
    schedule()
  })
}
