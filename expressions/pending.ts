/** What loops over values is not always done in one go: the rest of it runs in steps, between which other work may. */
import type { WaitingSteps } from '../schemas/steps.js'

/** A value that is not there yet. */
export class Pending<T> {
  constructor (readonly steps: WaitingSteps<T>) {}

  /** What is made of the value when it is there. */
  into<U> (make: (value: T) => U | Pending<U>): Pending<U> { return new Pending(continued(this.steps, make)) }
}

function * continued<T, U> (steps: WaitingSteps<T>, make: (value: T) => U | Pending<U>): WaitingSteps<U> {
  return yield * settled(make(yield * steps))
}

/** The value, which is waited for if it is pending. */
export function * settled<T> (value: T | Pending<T>): WaitingSteps<T> {
  return value instanceof Pending ? yield * value.steps : value
}

/** Starts work in steps: most of it is done at once, without a step. */
export function started<T> (steps: WaitingSteps<T>): T | Pending<T> {
  const { done, value } = steps.next()
  return done === true ? value : new Pending(resumed(steps, value))
}

/** The value, but other work may run before. */
export function * later<T> (value: T): WaitingSteps<T> {
  yield
  return value
}

function * resumed<T> (steps: WaitingSteps<T>, first: Promise<void> | undefined): WaitingSteps<T> {
  yield first
  return yield * steps
}
