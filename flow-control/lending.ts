/**
 * Seats that priority levels lend each other: how many a level asks for over a period, and what each gets of all. A
 * level keeps what it does not lend, and borrows no more than it may.
 */

/** Part of the last smoothed demand that a period keeps: demand rises at once and falls over minutes. */
const KEPT = 0.977
/** Levels that ask for nothing share what is left. */
const LEAST_TARGET = 0.001
const BISECTIONS = 50

/** The seats that the requests of a level use and wait for. */
export class Demand {
  #seats = 0
  #at: number
  #began: number
  #most = 0
  #sum = 0
  #squares = 0
  /** Of the periods that have ended. */
  smoothed = 0

  constructor (now: number) { this.#at = this.#began = now }

  /** The demand from now on. */
  set (seats: number, now: number): void {
    this.#pass(now)
    this.#seats = seats
    if (seats > this.#most) this.#most = seats
  }

  /** Ends a period. @returns the most seats asked for within it */
  end (now: number): number {
    this.#pass(now)
    const [duration, most] = [now - this.#began, this.#most]
    if (duration > 0) {
      const average = this.#sum / duration
      const envelope = average + Math.sqrt(Math.max(0, this.#squares / duration - average * average))
      this.smoothed = Math.max(envelope, KEPT * this.smoothed + (1 - KEPT) * envelope)
    }
    this.#began = now
    this.#most = this.#seats
    this.#sum = this.#squares = 0
    return most
  }

  #pass (now: number): void {
    const passed = now - this.#at
    if (passed <= 0) return
    this.#at = now
    this.#sum += this.#seats * passed
    this.#squares += this.#seats * this.#seats * passed
  }
}

/** What a level lends and may borrow, in seats. */
export interface Bounds {
  /** Its own, by its shares. */
  readonly nominal: number
  /** What it does not lend. */
  readonly least: number
  /** With all that it may borrow. */
  readonly most: number
}

/** @param lends percentage of its seats @param borrows percentage of its seats; undefined for all there are */
export function boundsOf (
  nominal: number, all: number, { lends = 0, borrows }: { lends?: number | undefined, borrows?: number | undefined }
): Bounds {
  const most = borrows === undefined ? all : nominal + Math.round(nominal * borrows / 100)
  return { nominal, least: nominal - Math.round(nominal * lends / 100), most: Math.max(nominal, Math.min(all, most)) }
}

export interface Claim {
  readonly bounds: Bounds
  /** In the last period. */
  readonly mostAsked: number
  readonly smoothed: number
}

/** Divides seats in proportion to smoothed demand, within the bounds of each. @returns seats, in order of the claims */
export function divide (seats: number, claims: readonly Claim[]): number[] {
  const parts = claims.map(({ bounds: { nominal, least, most }, mostAsked, smoothed }) => {
    // A level gets back at least what it asked for of its own.
    const atLeast = Math.max(least, Math.min(nominal, mostAsked))
    return { least, atLeast, most: Math.max(most, atLeast), target: Math.max(LEAST_TARGET, atLeast, smoothed) }
  })
  const total = (of: (part: typeof parts[number]) => number): number => parts.reduce((sum, part) => sum + of(part), 0)
  const [kept, wanted] = [total(({ least }) => least), total(({ atLeast }) => atLeast)]
  if (seats <= kept) return parts.map(({ least }) => least)
  if (seats <= wanted) {
    const share = (seats - kept) / (wanted - kept)
    return parts.map(({ least, atLeast }) => least + Math.round((atLeast - least) * share))
  }
  const at = (factor: number) => ({ atLeast, most, target }: typeof parts[number]): number =>
    Math.min(most, Math.max(atLeast, factor * target))
  let [low, high] = [0, seats / LEAST_TARGET]
  for (let turn = 0; turn < BISECTIONS; turn++) {
    const middle = (low + high) / 2
    if (total(at(middle)) < seats) low = middle; else high = middle
  }
  return parts.map(part => Math.round(at(high)(part)))
}
