/**
 * Every change in one range of keys after a revision, once and in order, over as many connections as it takes.
 *
 * Its position is certain: events come in order and whole, and between them etcd's answers to requests for progress
 * count, where they come behind the events up to them. Whether they do, each stream tells: progress is requested before the
 * watch is created. A server that answers at once, ahead of the watch, would answer ahead of its events, too; one that puts
 * its answers behind events has nothing to say on a stream without a watch. See `progress.ts`.
 */
import type { BackendEvent, Revision } from '../backend.js'
import type { Connection } from './connection.js'
import { decodeWatch, encodeProgress, encodeWatch } from './messages.js'
import { Progress } from './progress.js'
import type { MessageStream } from './transport.js'

export interface FeedSource {
  readonly connection: Pick<Connection, 'watchStream'>
  readonly start: Uint8Array
  readonly end: Uint8Array
  /** Writes a key of the range that no watch is told of: the feed's own proof of where it is, where etcd gives none. */
  readonly mark: () => Promise<Revision>
  readonly markKey: string
  /** The newest revision known from other calls. */
  readonly newestSeen: () => Revision
}

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

export class Feed {
  position: Revision
  readonly #source: FeedSource
  readonly #target: FeedTarget
  readonly #progress: Progress
  #stream: MessageStream | undefined
  #fragments: BackendEvent[] = []
  /** The watch of the stream is there. */
  #created = false
  /** Nothing answered ahead of the watch. */
  #ordered = true
  #heard = performance.now()
  #closed = false
  #wake: (() => void) | undefined
  readonly #check: NodeJS.Timeout

  /** @param after a revision that the store has reached */
  constructor (source: FeedSource, after: Revision, target: FeedTarget) {
    this.#source = source
    this.position = after
    this.#target = target
    this.#progress = new Progress({
      position: () => this.position,
      live: () => this.#created,
      ordered: () => this.#ordered,
      ask: () => this.#stream?.write(encodeProgress()),
      mark: source.mark
    })
    this.#check = setInterval(() => this.#notice(), CHECK).unref()
    // It never rejects: whatever goes wrong, it tries again until it is closed.
    this.#run().catch(() => {})
  }

  /** Sees to it that the feed comes to this revision, which the store has reached, soon. */
  catchUpTo (revision: Revision): void {
    this.#progress.to(revision)
  }

  close (): void {
    this.#closed = true
    this.#progress.close()
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
      this.#ordered = true
      this.#heard = performance.now()
      let ended = () => {}
      const over = new Promise<void>(resolve => {
        ended = () => {
          this.#created = false
          resolve()
        }
      })
      const opened = await this.#source.connection.watchStream({ message: message => this.#receive(message), end: ended })
      leave = opened.leave
      this.#stream = opened.stream
      if (this.#closed) {
        opened.stream.cancel()
      } else {
        opened.stream.write(encodeProgress())
        // From the position itself, whose events are dropped, not from the next: then etcd refuses
        // exactly when something after the position may be lost.
        opened.stream.write(encodeWatch(this.#source.start, this.#source.end, this.position, this.#target.previous))
      }
      await over
    } catch {
      // Told apart by nothing: the next connection takes up where this one ended.
    }
    this.#stream = undefined
    this.#created = false
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
    if (message.created) {
      this.#created = true
      this.#progress.resume()
      return
    }
    if (!this.#created) {
      this.#ordered = false
      return
    }
    if (message.events.length === 0 && !message.fragment && this.#fragments.length === 0) {
      // Progress, asked for or etcd's own notice: nothing is queued before it, for it comes the way of the events.
      this.#advance([], message.revision, Infinity)
      return
    }
    this.#fragments.push(...message.events)
    if (message.fragment) return
    const fresh = this.#fragments.filter(({ kv }) => kv.modRevision > this.position)
    this.#fragments = []
    const first = fresh[0]?.kv.modRevision ?? 0
    const last = fresh.at(-1)?.kv.modRevision ?? 0
    this.#advance(fresh.filter(({ kv }) => kv.key !== this.#source.markKey), last, first)
  }

  /** @param first revision of the events that came, marks included */
  #advance (events: BackendEvent[], revision: Revision, first: Revision): void {
    if (revision <= this.position) return
    const skipped = first > this.position + 1
    this.position = revision
    this.#progress.moved(skipped)
    this.#target.events(events, revision)
  }

  /**
   * A stream that says nothing although the store went on is asked how far it is, so that a quiet range does not fall behind
   * what others' writes and compactions leave of the history; one that is silent about what was written in its range is taken for dead.
   */
  #notice (): void {
    const now = performance.now()
    const newest = this.#source.newestSeen()
    if (this.position >= newest || now - this.#heard <= SILENCE) return
    const { marked } = this.#progress
    const lost = marked !== undefined && this.position < marked.revision && now - marked.at > SILENCE
    if (lost || !this.#created) this.#stream?.cancel()
    else this.#progress.to(newest)
  }
}
