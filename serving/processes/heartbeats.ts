/**
 * Finds processes that hang: alive, but without answers to the pings that the supervisor sends every second. A silent
 * process gets no more connections; one that stays silent is killed, so that its clients reconnect to others. Time in
 * which the supervisor itself did not run does not count.
 */

/** Milliseconds between two pings. */
const INTERVAL = 1000
/** Unanswered pings after which a process counts as hanging. No task of a process holds its event loop that long. */
const MOST = 15

export interface Answering {
  readonly ping: () => void
}

export interface HeartbeatOptions<T extends Answering> {
  /** The processes to ping. */
  readonly all: () => readonly T[]
  /** Called when a process has not answered the last ping. */
  readonly silent: (item: T) => void
  /** Called when a silent process answers. */
  readonly answers: (item: T) => void
  /** Called once, with the seconds of silence. */
  readonly hangs: (item: T, seconds: number) => void
}

export class Heartbeats<T extends Answering> {
  readonly #options: HeartbeatOptions<T>
  /** Intervals since the unanswered ping of each process. */
  readonly #open = new Map<T, number>()

  constructor (options: HeartbeatOptions<T>) { this.#options = options }

  start (): void { setInterval(() => { this.beat() }, INTERVAL).unref() }

  beat (): void {
    const { all, silent, hangs } = this.#options
    for (const item of all()) {
      const intervals = this.#open.get(item)
      this.#open.set(item, (intervals ?? -1) + 1)
      if (intervals === undefined) item.ping()
      else if (intervals === 0) silent(item)
      else if (intervals + 1 === MOST) hangs(item, MOST * INTERVAL / 1000)
    }
  }

  answered (item: T): void {
    const intervals = this.#open.get(item) ?? 0
    this.#open.delete(item)
    if (intervals > 0) this.#options.answers(item)
  }

  /** Forgets a process that ended. */
  remove (item: T): void { this.#open.delete(item) }
}
