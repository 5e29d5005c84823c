/**
 * Advances the position of a feed when the latest writes of the store are outside its range, so that no event arrives.
 *
 * etcd reports progress on request: once the watch has caught up, it responds with its revision, behind all events up
 * to it. Until then it stays silent, so the request is repeated. Before 3.4.25 and 3.5.8 the response may overtake
 * queued events (etcd issue 15220); `shared-watch.ts` detects such servers. For these, a key in the range is written
 * instead, at the price of a write: its event arrives behind all others on any version. The same happens if no response
 * arrives at all, as before 3.4.31 and 3.5.13 for a watch without events yet (issue 17507).
 *
 * One request at a time serves all waiters.
 */
import type { Revision } from '../backend.js'

/** The feed whose position to advance. */
export interface ProgressSource {
  readonly position: () => Revision
  /** Its watch is established. */
  readonly live: () => boolean
  /** Progress responses of its server arrive behind events. */
  readonly ordered: () => boolean
  /** Requests progress from its server. */
  readonly ask: () => void
  /** Writes a key in its range. @returns the revision */
  readonly mark: () => Promise<Revision>
}

/** Milliseconds before an unanswered request is repeated. */
const RETRY_MS = 100
/** Unanswered requests before a key is written. */
const MAX_UNANSWERED = 10
/** Milliseconds to wait for an event that makes a request, or a write, unnecessary. */
const ASK_DELAY_MS = 2
const MARK_DELAY_MS = 20
/**
 * Milliseconds for which writes outside the range are expected to continue, so that no time is spent waiting for
 * events.
 */
const RECENT_MS = 10_000
const PAUSE_MS = 1_000

export class Progress {
  readonly #feed: ProgressSource
  #target: Revision = 0
  #otherWritesAt = -Infinity
  #running = false
  #closed = false
  #wake: (() => void) | undefined
  /** The newest revision written by `mark`, and its time. */
  marked: { readonly revision: Revision, readonly at: number } | undefined

  constructor (feed: ProgressSource) {
    this.#feed = feed
  }

  /** Requests that the feed reach this revision, which the store must have reached. */
  to (revision: Revision): void {
    if (revision > this.#target) this.#target = revision
    this.resume()
  }

  /** Continues after the feed's watch may have been established. */
  resume (): void {
    if (!this.#running && this.#due()) void this.#run()
  }

  /**
   * Called when the feed's position changes.
   * @param skipped whether revisions without an event were passed, which are writes outside the range
   */
  moved (skipped: boolean): void {
    if (skipped) this.#otherWritesAt = performance.now()
    this.#wake?.()
  }

  close (): void {
    this.#closed = true
    this.#wake?.()
  }

  #due (): boolean {
    return !this.#closed && this.#feed.live() && this.#feed.position() < this.#target
  }

  async #run (): Promise<void> {
    this.#running = true
    let unanswered = 0
    while (this.#due()) {
      const ordered = this.#feed.ordered()
      const noOtherWrites = performance.now() - this.#otherWritesAt > RECENT_MS
      if (noOtherWrites && await this.#waitForMove(ordered ? ASK_DELAY_MS : MARK_DELAY_MS)) continue
      if (!this.#due()) break
      if (ordered && unanswered < MAX_UNANSWERED) {
        this.#feed.ask()
        unanswered = await this.#waitForMove(RETRY_MS) ? 0 : unanswered + 1
      } else {
        await this.#mark()
        unanswered = 0
      }
    }
    this.#running = false
  }

  async #mark (): Promise<void> {
    try {
      const revision = await this.#feed.mark()
      this.marked = { revision, at: performance.now() }
      while (this.#due() && this.#feed.position() < revision) if (!await this.#waitForMove(PAUSE_MS)) return
    } catch {
      // The store is unavailable or full; waiters learn it from their own calls or time out.
      await this.#waitForMove(PAUSE_MS)
    }
  }

  /** Waits for the feed to advance. @returns false after a timeout */
  #waitForMove (milliseconds: number): Promise<boolean> {
    return new Promise(resolve => {
      if (this.#closed) return resolve(false)
      const done = (moved: boolean): void => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve(moved)
      }
      const timer = setTimeout(done, milliseconds, false)
      this.#wake = () => { done(true) }
    })
  }
}
