/**
 * Finds processes that hang: alive, but without an answer to what the supervisor asks every second. One that is silent gets no more connections;
 * one that stays silent is killed, so that its clients go on at others. Time in which the supervisor itself did not run does not count.
 */

/** Milliseconds between two questions. */
const INTERVAL = 1000
/** Unanswered questions after which a process counts as hanging. Nothing that a process does holds its event loop as long. */
const MOST = 15

export interface Answering {
  readonly ping: () => void
}

export interface HeartbeatOptions<T extends Answering> {
  /** The processes to ask. */
  readonly all: () => readonly T[]
  /** Called when a process has not answered the last question. */
  readonly silent: (one: T) => void
  /** Called when a silent process answers. */
  readonly answers: (one: T) => void
  /** Called once, with the seconds of silence. */
  readonly hangs: (one: T, seconds: number) => void
}

export class Heartbeats<T extends Answering> {
  readonly #options: HeartbeatOptions<T>
  /** Intervals since the question that each process has not answered. */
  readonly #open = new Map<T, number>()

  constructor (options: HeartbeatOptions<T>) { this.#options = options }

  start (): void { setInterval(() => { this.beat() }, INTERVAL).unref() }

  beat (): void {
    const { all, silent, hangs } = this.#options
    for (const one of all()) {
      const intervals = this.#open.get(one)
      this.#open.set(one, (intervals ?? -1) + 1)
      if (intervals === undefined) one.ping()
      else if (intervals === 0) silent(one)
      else if (intervals + 1 === MOST) hangs(one, MOST * INTERVAL / 1000)
    }
  }

  answered (one: T): void {
    const intervals = this.#open.get(one) ?? 0
    this.#open.delete(one)
    if (intervals > 0) this.#options.answers(one)
  }

  /** Forgets a process that ended. */
  remove (one: T): void { this.#open.delete(one) }
}
