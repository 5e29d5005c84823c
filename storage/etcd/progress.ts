/**
 * How a feed of one range comes as far as the store when what happened last happened elsewhere: no event of those
 * revisions is for it, so it has to be told.
 *
 * Etcd can be asked on the stream of the watch. It answers with its revision, behind all events up to it, as soon as the
 * watch has caught up; until then it says nothing, so it is asked again. Before 3.4.25 and 3.5.8 its answer may
 * overtake events that are still queued (etcd's issue 15220) and proves nothing; `feed.ts` finds out which kind of
 * server it talks to. There a key is written in the range instead: its event comes behind all others, on any version
 * and at the price of a write. The same is done where no answer comes at all, as before 3.4.31 and 3.5.13 for a watch that has had no
 * event yet (issue 17507).
 *
 * One question at a time serves all who wait.
 */
import type { Revision } from '../backend.js'

/** A feed as it is asked for its progress. */
export interface Asked {
  readonly position: () => Revision
  /** Its watch is established. */
  readonly live: () => boolean
  /** Its server's answers to requests for progress come behind the events. */
  readonly ordered: () => boolean
  /** Requests progress from its server. */
  readonly ask: () => void
  /** Writes into its range. @returns the revision */
  readonly mark: () => Promise<Revision>
}

/** Milliseconds without an answer before it is asked again. */
const AGAIN = 100
/** So often in vain, and a key is written. */
const PATIENCE = 10
/** Milliseconds for an event that is on its way to make a question, or a write, superfluous. */
const BEFORE_ASKING = 2
const BEFORE_MARKING = 20
/** Milliseconds for which others that have written are expected to go on, so that nothing is waited for. */
const LATELY = 10_000
const PAUSE = 1_000

export class Progress {
  readonly #feed: Asked
  #wanted: Revision = 0
  #othersAt = -Infinity
  #running = false
  #closed = false
  #wake: (() => void) | undefined
  /** The newest write of `mark`, and when it was done. */
  marked: { readonly revision: Revision, readonly at: number } | undefined

  constructor (feed: Asked) {
    this.#feed = feed
  }

  /** The feed should come to this revision, which the store has reached. */
  to (revision: Revision): void {
    if (revision > this.#wanted) this.#wanted = revision
    this.resume()
  }

  /** The feed's watch is established, or may be. */
  resume (): void {
    if (!this.#running && this.#due()) void this.#run()
  }

  /** The feed's position has changed. @param skipped revisions passed without an event: somebody writes elsewhere */
  moved (skipped: boolean): void {
    if (skipped) this.#othersAt = performance.now()
    this.#wake?.()
  }

  close (): void {
    this.#closed = true
    this.#wake?.()
  }

  #due (): boolean {
    return !this.#closed && this.#feed.live() && this.#feed.position() < this.#wanted
  }

  async #run (): Promise<void> {
    this.#running = true
    let inVain = 0
    while (this.#due()) {
      const ordered = this.#feed.ordered()
      const alone = performance.now() - this.#othersAt > LATELY
      if (alone && await this.#move(ordered ? BEFORE_ASKING : BEFORE_MARKING)) continue
      if (!this.#due()) break
      if (ordered && inVain < PATIENCE) {
        this.#feed.ask()
        inVain = await this.#move(AGAIN) ? 0 : inVain + 1
      } else {
        await this.#mark()
        inVain = 0
      }
    }
    this.#running = false
  }

  async #mark (): Promise<void> {
    try {
      const revision = await this.#feed.mark()
      this.marked = { revision, at: performance.now() }
      while (this.#due() && this.#feed.position() < revision) if (!await this.#move(PAUSE)) return
    } catch {
      // The store is away or full: whoever waits is told by his own calls, or that the changes do not arrive.
      await this.#move(PAUSE)
    }
  }

  /** Waits for the feed to move. @returns whether it did in time */
  #move (milliseconds: number): Promise<boolean> {
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
