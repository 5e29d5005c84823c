/**
 * The time budget of a turn of the event loop, and one account of what long work takes of it: lists, large answers,
 * patches, deletions of collections, the store's own upkeep. Each by itself would yield in time, but twenty of them
 * would do so one after the other, and nobody else would be heard between.
 */

import { LARGE_OBJECT_BYTES } from '../schemas/limits.js'
import { finish } from '../schemas/steps.js'
import type { Steps } from '../schemas/steps.js'

/** Milliseconds. Whoever keeps an account of its own, as the queue of the watches does, has as much. */
export const TURN_MS = 8

/** When the work of this turn began; 0 when none has yet. */
let since = 0
let scheduled = false
const waiting: Array<() => void> = []
/** Those that have not begun. */
const starting: Array<() => void> = []
/** Milliseconds for which those that have begun go before those that have not. */
const PATIENCE_MS = 50
let startedAt = 0

const isAnybodyWaiting = (): boolean => waiting.length + starting.length > 0

/** Whoever has begun goes first, so that few are half done at a time: what they hold is what collections of garbage go through. */
function next (): (() => void) | undefined {
  const now = performance.now()
  if (waiting.length > 0 && now - startedAt < PATIENCE_MS) return waiting.shift()
  if (starting.length > 0) startedAt = now
  return starting.shift() ?? waiting.shift()
}

function schedule (): void {
  if (scheduled) return
  scheduled = true
  setImmediate(() => {
    scheduled = false
    since = 0
    if (!isAnybodyWaiting()) return
    turnIsOver() // from here on it counts
    serve()
  })
}

/**
 * Lets those go on who wait, one after the other, until the turn has lasted long enough. With one in each turn there would be
 * more and more of them, as soon as the requests that come in a turn ask for more than one.
 */
function serve (): void {
  next()?.()
  if (isAnybodyWaiting()) afterIt(() => { if (turnIsOver()) schedule(); else serve() })
}

/** True when what was done in this turn has lasted long enough, whoever did it: wait for `nextTurn`. */
export function turnIsOver (): boolean {
  const now = performance.now()
  if (since !== 0) return now - since > TURN_MS
  since = now
  schedule()
  return false
}

/** Resolves in a later turn of the loop, for one caller after the other. */
export function nextTurn (): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve)
    schedule()
  })
}

/** Before the first step with a large object: resolves in a turn of the loop when few others are half done. */
export function firstTurn (): Promise<void> {
  return new Promise(resolve => {
    starting.push(resolve)
    schedule()
  })
}

/**
 * Milliseconds in which requests are begun that waited, before others are heard again: a list of a hundred objects, or a few reads.
 * Beside 500 eager lists a quiet GET took 12 ms in the median with two, and 1 with this; reads that all wait cost a twentieth more.
 */
const BEGIN_MS = 0.1
const beginnings: Array<() => void> = []
let beginning = false

/** Calls back in the next turn of the loop, for one caller after the other, with as many of them as a tenth of a millisecond has time for. */
export function begin (run: () => void): void {
  beginnings.push(run)
  if (!beginning) beginAll()
}

function beginAll (): void {
  beginning = true
  setImmediate(() => {
    const until = performance.now() + BEGIN_MS
    const next = (): void => {
      try {
        beginnings.shift()?.()
      } finally { // whoever fails is no reason for others to wait for ever
        if (beginnings.length === 0) beginning = false
        else afterIt(() => { if (performance.now() > until) beginAll(); else next() })
      }
    }
    next()
  })
}

/** Calls back when all that follows at once from what has just been done is done. */
function afterIt (run: () => void): void {
  // Ticks come when the microtasks there are have run, if they are asked for by one.
  queueMicrotask(() => { process.nextTick(run) })
}

/** Whether each step with an object of so many bytes (decode, validate, encode) takes a millisecond or more. */
export const isLarge = (bytes: number): boolean => bytes > LARGE_OBJECT_BYTES

/** Between two steps with a large object: a turn of the event loop for everybody else. Hot paths ask `isLarge` first and don't wait at all. */
export async function yieldToEventLoop (bytes: number): Promise<void> {
  if (isLarge(bytes)) await nextTurn()
}

/** All steps at once, or where they are for so many bytes that each needs a turn, in turns. Hot paths ask `isLarge` first. */
export async function stepped<T> (steps: Steps<T>, bytes: number): Promise<T> {
  return isLarge(bytes) ? await inTurns(steps) : finish(steps)
}

/** Waits for a turn after each step. */
export async function inTurns<T> (steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    await nextTurn()
  }
}
