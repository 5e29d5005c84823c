/**
 * Every change in the whole store after a revision, once and in order, over as many connections as it
 * takes.
 *
 * It watches all keys, not a range. That is what makes its position certain: each revision of etcd has an
 * event, so having been given the event of revision R means having been given everything up to R, on any
 * version of etcd and without asking. (Asked for progress, etcd before 3.4.25 and 3.5.8 may answer ahead
 * of events that are still queued.) The price is that an etcd shared with other programs sends their
 * changes too.
 */
import type { BackendEvent, Revision } from '../backend.js'
import type { Connection } from './connection.js'
import { decodeWatch, encodeWatch } from './messages.js'
import type { MessageStream } from './transport.js'

export interface FeedTarget {
  /** Events are to come with what was there before. */
  readonly previous: boolean
  /** Whole revisions, rising, each once. The feed's position is already `revision`. */
  events: (events: BackendEvent[], revision: Revision) => void
  /** The changes after the feed's position are gone; the feed is over. */
  compacted: (revision: Revision) => void
}

/** Milliseconds. */
const FIRST_PAUSE = 20
const LONGEST_PAUSE = 1_000
const CHECK = 2_000
const SILENCE = 5_000

const EVERYTHING = Buffer.from([0])

export class Feed {
  position: Revision
  readonly #connection: Connection
  readonly #target: FeedTarget
  readonly #newestSeen: () => Revision
  #stream: MessageStream | undefined
  #fragments: BackendEvent[] = []
  #heard = performance.now()
  #closed = false
  #wake: (() => void) | undefined
  readonly #check: NodeJS.Timeout

  /**
   * @param after a revision that the store has reached
   * @param newestSeen the newest revision known from other calls, to notice a stream that hangs
   */
  constructor (connection: Connection, after: Revision, newestSeen: () => Revision, target: FeedTarget) {
    this.#connection = connection
    this.position = after
    this.#newestSeen = newestSeen
    this.#target = target
    this.#check = setInterval(() => this.#notice(), CHECK).unref()
    // It never rejects: whatever goes wrong, it tries again until it is closed.
    this.#run().catch(() => {})
  }

  close (): void {
    this.#closed = true
    clearInterval(this.#check)
    this.#stream?.cancel()
    this.#wake?.()
  }

  async #run (): Promise<void> {
    let pause = FIRST_PAUSE
    while (!this.#closed) {
      const before = this.position
      await this.#session()
      pause = this.position > before ? FIRST_PAUSE : Math.min(pause * 2, LONGEST_PAUSE)
      if (this.#closed) return
      await new Promise<void>(resolve => {
        this.#wake = resolve
        setTimeout(resolve, pause * (0.5 + Math.random() / 2))
      })
    }
  }

  /** One connection, until it ends in whatever way. */
  async #session (): Promise<void> {
    let leave = () => {}
    try {
      this.#fragments = []
      this.#heard = performance.now()
      let ended = () => {}
      const over = new Promise<void>(resolve => { ended = resolve })
      const opened = await this.#connection.watchStream({ message: message => this.#receive(message), end: ended })
      leave = opened.leave
      this.#stream = opened.stream
      if (this.#closed) opened.stream.cancel()
      // From the position itself, whose events are dropped, not from the next: then etcd refuses
      // exactly when something after the position may be lost.
      else opened.stream.write(encodeWatch(EVERYTHING, EVERYTHING, this.position, this.#target.previous))
      await over
    } catch {
      // Told apart by nothing: the next connection takes up where this one ended.
    }
    this.#stream = undefined
    if (!this.#closed) leave()
  }

  #receive (bytes: Buffer): void {
    if (this.#closed) return
    this.#heard = performance.now()
    const message = decodeWatch(bytes)
    if (message.compacted > 0) {
      this.close()
      this.#target.compacted(message.compacted)
      return
    }
    if (message.canceled) throw new Error(message.reason)
    if (message.created) return
    if (message.events.length === 0 && !message.fragment && this.#fragments.length === 0) {
      // Etcd's own notice: nothing is queued before it, for it comes the way of the events.
      this.#advance([], message.revision)
      return
    }
    this.#fragments.push(...message.events)
    if (message.fragment) return
    const fresh = this.#fragments.filter(({ kv }) => kv.modRevision > this.position)
    this.#fragments = []
    this.#advance(fresh, fresh.at(-1)?.kv.modRevision ?? 0)
  }

  #advance (events: BackendEvent[], revision: Revision): void {
    if (revision <= this.position) return
    this.position = revision
    this.#target.events(events, revision)
  }

  /** A stream that says nothing although the store went on is taken for dead. */
  #notice (): void {
    if (this.position < this.#newestSeen() && performance.now() - this.#heard > SILENCE) this.#stream?.cancel()
  }
}
