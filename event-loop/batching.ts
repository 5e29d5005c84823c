/**
 * Runs the same step of several requests in a row, which keeps its code in the processor's cache.
 * Benchmark: `npm run bench -- reads`, 'GET, 64 connections, HTTP/1.1, embedded, all defaults': the build before
 * 2.3–3.2 ×.
 */
import { afterMicrotasks, turnIsOver } from './turns.js'

/** @returns a function that adds a step to the batch that `schedule` runs, in order */
function batched (schedule: (run: () => void) => void): (step: () => void) => void {
  let steps: Array<() => void> = []
  const run = (): void => {
    const due = steps
    steps = []
    let at = 0
    const rest = (): void => {
      try {
        while (at < due.length) due[at++]?.()
      } finally { // a failing step must not block the others
        if (at < due.length) process.nextTick(rest)
      }
    }
    rest()
  }
  return step => { if (steps.push(step) === 1) schedule(run) }
}

/** Calls back when the event loop has read from all connections that have sent something. */
export const afterPoll = batched(setImmediate)

/** True while queued requests start. */
let starting = false
let afterStarts: (() => void) | undefined

/**
 * Calls back when the current callback and its microtasks are done, or when the queued requests of this turn have
 * started.
 */
export const afterWork = batched(run => {
  if (starting) afterStarts = run
  else process.nextTick(run)
})

/**
 * Milliseconds. A request that starts slower than this ends the batch of the turn; others start together while the turn
 * has time, so that they share commits, frames and system calls.
 * Benchmark: `npm run bench -- fairness`, 'a GET beside 500 lists of another user, p99'.
 */
const LONG_START_MS = 1
const queue: Array<() => void> = []
let scheduled = false

/** Calls back in the next event loop turn: as many callers as it has time for, but none after one that takes long. */
export function startInNextTurn (run: () => void): void {
  queue.push(run)
  if (!scheduled) scheduleStarts()
}

function scheduleStarts (): void {
  scheduled = true
  setImmediate(() => {
    starting = true
    startNext()
  })
}

function startNext (): void {
  const since = performance.now()
  try {
    queue.shift()?.()
  } finally { // a failing callback must not block the others
    afterMicrotasks(() => {
      const wasLong = performance.now() - since > LONG_START_MS
      if (queue.length > 0 && !wasLong && !turnIsOver()) startNext()
      else endStarts()
    })
  }
}

function endStarts (): void {
  scheduled = starting = false
  if (queue.length > 0) scheduleStarts()
  const run = afterStarts
  afterStarts = undefined
  run?.()
}
