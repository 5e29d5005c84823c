/**
 * Steps that several requests take together. A step that many take in a row costs a third to a half less than one between the other steps of its request, because
 * the processor keeps its code near (`npm run bench -- reads`): the requests that one turn of the event loop has read are served together, and their responses are
 * written together.
 */
import { afterMicrotasks, turnIsOver } from './turns.js'

/** @returns adds a step to those that `schedule` runs together, in order */
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

/** Calls back at the end of the work at hand: of this callback of the event loop with its microtasks, or of the queued requests that start in this turn. */
export const afterWork = batched(run => {
  if (starting) afterStarts = run
  else process.nextTick(run)
})

/**
 * Milliseconds within which a queued request must have started for another to start in the same turn, enough for a list of a hundred objects. Beside 500 eager
 * lists the median of a quiet GET was 12 ms with turns of 2 ms of starts, and 1 ms with short ones (`npm run bench -- fairness`).
 */
const QUICK_START_MS = 0.25
const queue: Array<() => void> = []
let scheduled = false

/** Calls back in the next event loop turn: as many callers as start quickly, while the turn has time. */
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
      if (queue.length > 0 && performance.now() - since <= QUICK_START_MS && !turnIsOver()) startNext()
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
