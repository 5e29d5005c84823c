/**
 * All changes of one key range after a revision, once and in order, over any number of connections.
 *
 * The position is exact: events arrive in order and complete, and progress responses count if they arrive behind
 * earlier events. To detect that, each stream requests progress before it creates its watch: a server that responds
 * immediately would also respond ahead of events, while one that queues responses behind events stays silent without a
 * watch. See `progress.ts`.
 */
import type { BackendEvent, Revision } from '../backend.js'
import type { Connection } from './connection.js'
import { decodeWatch, encodeProgress, encodeWatch } from './messages.js'
import { Progress } from './progress.js'
import type { MessageStream } from './transport.js'

export interface SharedWatchSource {
  readonly connection: Pick<Connection, 'watchStream' | 'offset'>
  readonly start: Uint8Array
  readonly end: Uint8Array
  /**
   * Writes a key of the range that no watch reports, to prove the feed's position on servers that cannot report
   * progress.
   */
  readonly mark: () => Promise<Revision>
  readonly markKey: string
  /** The newest revision of any response. */
  readonly newestSeen: () => Revision
}

export interface SharedWatchTarget {
  /** True if events must include previous values. */
  readonly previous: boolean
  /** Whole revisions, ascending, each once. The feed's position is already `revision`. */
  events: (events: BackendEvent[], revision: Revision) => void
  /** Changes after the feed's position were compacted; the feed has ended. */
  compacted: (revision: Revision) => void
}

const MIN_PAUSE_MS = 20
const MAX_PAUSE_MS = 1_000
const CHECK_MS = 2_000
const SILENCE_MS = 5_000

export class SharedWatch {
  position: Revision
  readonly #source: SharedWatchSource
  readonly #target: SharedWatchTarget
  readonly #progress: Progress
  #stream: MessageStream | undefined
  #fragments: BackendEvent[] = []
  /** The stream's watch has been created. */
  #created = false
  /** No response arrived before the watch was created. */
  #ordered = true
  #lastMessageAt = performance.now()
  #closed = false
  #wake: (() => void) | undefined
  readonly #check: NodeJS.Timeout

  /** @param after a revision that the store has reached */
  constructor (source: SharedWatchSource, after: Revision, target: SharedWatchTarget) {
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
    this.#check = setInterval(() => this.#checkStalled(), CHECK_MS).unref()
    // Never rejects: it retries until it is closed.
    this.#run().catch(() => {})
  }

  /** Makes the feed reach this revision soon, which the store must have reached. */
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
    let pause = MIN_PAUSE_MS
    while (!this.#closed) {
      const before = this.position
      await this.#runSession()
      pause = this.position > before ? MIN_PAUSE_MS : Math.min(pause * 2, MAX_PAUSE_MS)
      if (this.#closed) return
      await new Promise<void>(resolve => {
        this.#wake = resolve
        setTimeout(resolve, pause * (0.5 + Math.random() / 2))
      })
    }
  }

  /** One connection, until it ends. */
  async #runSession (): Promise<void> {
    let moveOn = () => {}
    try {
      this.#fragments = []
      this.#ordered = true
      this.#lastMessageAt = performance.now()
      let ended = () => {}
      const over = new Promise<void>(resolve => {
        ended = () => {
          this.#created = false
          resolve()
        }
      })
      const opened = await this.#source.connection
        .watchStream({ message: message => this.#receive(message), end: ended })
      moveOn = opened.moveOn
      this.#stream = opened.stream
      if (this.#closed) {
        opened.stream.cancel()
      } else {
        opened.stream.write(encodeProgress())
        // Start at the position, whose events are dropped, not after it: etcd then refuses exactly if later events may
        // be lost.
        const { start: key, end: rangeEnd, connection: { offset } } = this.#source
        const { previous } = this.#target
        opened.stream.write(encodeWatch({ key, rangeEnd, from: this.position, previous }, offset))
      }
      await over
    } catch {
      // All failures are treated alike: the next connection continues from the position.
    }
    this.#stream = undefined
    this.#created = false
    if (!this.#closed) moveOn()
  }

  #receive (bytes: Buffer): void {
    if (this.#closed) return
    this.#lastMessageAt = performance.now()
    const message = decodeWatch(bytes, this.#source.connection.offset)
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
      // A progress response or notification: all earlier events have arrived.
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

  /** @param first revision of the first event, progress keys included */
  #advance (events: BackendEvent[], revision: Revision, first: Revision): void {
    if (revision <= this.position) return
    const skipped = first > this.position + 1
    this.position = revision
    this.#progress.moved(skipped)
    this.#target.events(events, revision)
  }

  /**
   * Checks a stream that is silent although the store advanced: requests progress, so that the position of a quiet
   * range is not compacted by other writes. A stream that misses an event of its own range is dead.
   */
  #checkStalled (): void {
    const now = performance.now()
    const newest = this.#source.newestSeen()
    if (this.position >= newest || now - this.#lastMessageAt <= SILENCE_MS) return
    const { marked } = this.#progress
    const lost = marked !== undefined && this.position < marked.revision && now - marked.at > SILENCE_MS
    if (lost || !this.#created) this.#stream?.cancel()
    else this.#progress.to(newest)
  }
}
