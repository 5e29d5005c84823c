/**
 * The time budget of an event loop turn, shared by all long work: lists, large responses, patches, deletions of
 * collections, upkeep of the store. Each would yield in time by itself, but many in one turn would delay other
 * requests. One budget for all servers of a process, as they share its event loop. Benchmark: `npm run bench --
 * fairness`, 'one GET at a time beside 500 eager lists of another, priority and fairness, p99'.
 */

import { LARGE_OBJECT_BYTES } from '../schemas/limits.js'
import type { WaitingSteps } from '../schemas/steps.js'
import { forSameRequest } from './worked-for.js'

/** Also the budget of components that measure themselves, such as the queue of watches. */
export const TURN_MS = 8

/** When the work of this turn began; 0 if it has not. */
let turnStartedAt = 0
let scheduled = false
const waiting: Array<() => void> = []
/** Callers that have not started. */
const starting: Array<() => void> = []
/** Milliseconds for which started work takes precedence over new work. */
const STARTED_FIRST_MS = 50
let startedAt = 0

const hasWaiters = (): boolean => waiting.length + starting.length > 0

/** Prefers started work, so that few requests are half done at a time: garbage collections traverse what they hold. */
function next (): (() => void) | undefined {
  const now = performance.now()
  if (waiting.length > 0 && now - startedAt < STARTED_FIRST_MS) return waiting.shift()
  if (starting.length > 0) startedAt = now
  return starting.shift() ?? waiting.shift()
}

function schedule (): void {
  if (scheduled) return
  scheduled = true
  setImmediate(() => {
    scheduled = false
    turnStartedAt = 0
    if (!hasWaiters()) return
    turnIsOver() // starts the measurement
    serve()
  })
}

/**
 * Resumes waiting callers one after the other until the turn is over. Resuming only one per turn would let them
 * accumulate.
 */
function serve (): void {
  next()?.()
  if (hasWaiters()) afterMicrotasks(() => { if (turnIsOver()) schedule(); else serve() })
}

/** True if the work of this turn has taken its budget: wait for `nextTurn`. */
export function turnIsOver (): boolean {
  const now = performance.now()
  if (turnStartedAt !== 0) return now - turnStartedAt > TURN_MS
  turnStartedAt = now
  schedule()
  return false
}

/** Resolves in a later event loop turn, one caller after the other. */
export function nextTurn (): Promise<void> {
  return new Promise(resolve => {
    waiting.push(forSameRequest(resolve))
    schedule()
  })
}

/**
 * Call before the first step with a large object: resolves in an event loop turn when little other work is half done.
 */
export function yieldToStarted (): Promise<void> {
  return new Promise(resolve => {
    starting.push(forSameRequest(resolve))
    schedule()
  })
}

/** Calls back after all pending microtasks. */
export function afterMicrotasks (run: () => void): void {
  // A tick scheduled within a microtask runs after the microtask queue.
  queueMicrotask(() => { process.nextTick(run) })
}

/** Whether a step with an object of that size (decode, validate, encode) takes a millisecond or more. */
export const isLarge = (bytes: number): boolean => bytes > LARGE_OBJECT_BYTES

/** Runs all steps, for large objects in separate event loop turns. Hot paths check `isLarge` first. */
export async function runSteps<T> (steps: WaitingSteps<T>, bytes: number): Promise<T> {
  return isLarge(bytes) ? await runStepsYielding(steps) : await runWaiting(steps)
}

/** Runs each step in a separate event loop turn. */
export async function runStepsYielding<T> (steps: WaitingSteps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    await (value ?? nextTurn())
  }
}

/**
 * Runs all steps at once, except that it waits where they do. Returns a promise only then, which costs hot paths
 * nothing.
 */
function runWaiting<T> (steps: WaitingSteps<T>): T | Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (value !== undefined) return value.then(() => runWaiting(steps))
  }
}

/** Runs many short steps, as many in a turn as its budget allows, and waits where they do. */
export async function runStepsWithinBudget<T> (steps: WaitingSteps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (value !== undefined) await value
    else if (turnIsOver()) await nextTurn()
  }
}
