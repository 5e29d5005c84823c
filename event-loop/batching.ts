/**
 * Runs the same step of several requests in a row, which keeps its code in the processor's cache. Benchmark: `npm run
 * bench -- reads`, 'GET, 64 connections, HTTP/1.1, embedded': the build before 2.3–3.2 ×.
 */
import { afterMicrotasks, TURN_MS, turnIsOver } from './turns.js'

/** Steps of one turn: those of each client stand in rounds, so that many of one do not delay those of others. */
class Rounds {
  readonly #last = new WeakMap<object, number>()
  #rounds: Array<Array<() => void>> = []
  /** Number of the round that is served. */
  #current = 0
  #at = 0
  #isDue = false

  /** Adds a step after those of the same client. */
  add (client: object, step: () => void): void {
    const round = Math.max(this.#current, (this.#last.get(client) ?? -1) + 1)
    this.#last.set(client, round);
    (this.#rounds[round - this.#current] ??= []).push(step)
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(this.#run)
  }

  #next (): (() => void) | undefined {
    let step = this.#rounds[0]?.[this.#at++]
    if (step === undefined && this.#rounds.length > 1) {
      this.#rounds.shift()
      this.#current++
      this.#at = 1
      step = this.#rounds[0]?.[0]
    }
    return step
  }

  /** As many steps as the turn has time for, one at least. */
  readonly #run = (): void => {
    const since = performance.now()
    let step: (() => void) | undefined
    try {
      while ((step = this.#next()) !== undefined) {
        step()
        if (performance.now() - since > TURN_MS) break
      }
    } finally { // a failing step must not block the others
      if (step !== undefined) setImmediate(this.#run)
      else this.#clear()
    }
  }

  #clear (): void {
    this.#rounds = []
    this.#current++
    this.#at = 0
    this.#isDue = false
  }
}

const rounds = new Rounds()

/**
 * Calls back when the event loop has read from all connections that have sent something, or in a later turn if it has
 * no time for it: those of each client in their order, one client after the other.
 */
export function afterPoll (client: object, step: () => void): void { rounds.add(client, step) }

/** True while queued requests start. */
let starting = false
let afterStarts: (() => void) | undefined

/**
 * Calls back when the current callback and its microtasks are done, or when the queued requests of this turn have
 * started.
 */
export function afterWork (step: () => void): void {
  if (steps.push(step) > 1) return
  if (starting) afterStarts = runSteps
  else process.nextTick(runSteps)
}

let steps: Array<() => void> = []

function runSteps (): void {
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

/**
 * Milliseconds. A request that starts slower than this ends the batch of the turn; others start together while the turn
 * has time, so that they share commits, frames and system calls. Benchmark: `npm run bench -- fairness`, 'one GET at a
 * time beside 500 eager lists of another, priority and fairness, p99'.
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
