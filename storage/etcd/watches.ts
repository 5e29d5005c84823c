/**
 * The watches of one back end, all fed from one feed of all its keys. A short stretch of the past is kept, so
 * that a watch from a recent revision (the usual one: just listed, now watched) joins at once; one from
 * further back gets a feed of its own until it has come as far as what is kept.
 */
import type { BackendEvent, BackendWatch, Revision, WatchRequest } from '../backend.js'
import { StorageError } from '../errors.js'
import { newsOf, callSafely, callOnEnd } from '../watch-callbacks.js'
import { closedError } from './failures.js'
import { Feed, type FeedSource } from './feed.js'

/** How much of the past is kept. */
const KEPT_EVENTS = 1024
const KEPT_BYTES = 4 * 1024 * 1024
/** How far before the newest known revision the main feed may begin. */
const REACH = 1000
/** Milliseconds for which a watch that asked for progress is told of every step. */
const EAGER = 5_000
const ASK_AGAIN = 250

class Watch implements BackendWatch {
  readonly request: WatchRequest
  readonly #owner: Watches
  position: Revision
  /** The feed that serves it; undefined until it has one. */
  feed: Feed | undefined
  ended = false
  eagerUntil = 0

  constructor (owner: Watches, request: WatchRequest) {
    this.#owner = owner
    this.request = request
    this.position = request.after
  }

  requestProgress (): void {
    if (this.ended) return
    this.eagerUntil = performance.now() + EAGER
    queueMicrotask(() => this.progress())
    this.#owner.hurry(this)
  }

  cancel (): void {
    this.ended = true
    this.#owner.drop(this)
  }

  /** Gives it what is new to it; `revision` is the position of its feed. */
  take (events: readonly BackendEvent[], revision: Revision): void {
    const news = newsOf(events, this.request, this.position)
    if (revision > this.position) this.position = revision
    if (this.ended) return
    if (news !== undefined) this.#tell(() => this.request.onEvents(news, revision))
    // Behind events as well: they may be what the feed was waiting for, and nothing may come after them.
    if (this.eagerUntil > 0) this.progress(revision)
  }

  /** @param reached up to where it was given everything: its feed's position, but for one that is being handed the past */
  progress (reached = this.feed?.position): void {
    // What came before a start in the future was not delivered, so nothing is said about it; nor by a feed that is behind the one
    // which has served the watch until now.
    if (this.ended || reached === undefined || reached < this.position || this.eagerUntil === 0) return
    if (performance.now() > this.eagerUntil) this.eagerUntil = 0
    this.#tell(() => this.request.onProgress(reached))
  }

  finish (error: StorageError): void {
    if (this.ended) return
    this.cancel()
    callOnEnd(this.request, error)
  }

  #tell (callback: () => void): void {
    callSafely(callback, error => this.finish(error))
  }
}

/** What the watches share with the back end they belong to. */
export interface StoreFacts extends FeedSource {
  /** The newest revision that any answer showed, 0 before the first. */
  readonly newestSeen: () => Revision
  /** Events come with what was there before. */
  readonly previous: boolean
  /** Asks the store. */
  readonly revision: () => Promise<Revision>
  readonly compacted: () => Revision
  readonly noteCompacted: (revision: Revision) => void
}

export class Watches {
  readonly #store: StoreFacts
  readonly #attached = new Set<Watch>()
  readonly #catchingUp = new Map<Watch, Feed>()
  readonly #waiting = new Set<Watch>()
  #main: Feed | undefined
  #asking: Promise<void> | undefined
  #kept: Array<{ events: BackendEvent[], bytes: number, revision: Revision } | undefined> = []
  /** Of what is kept, so many from the front are gone. */
  #dropped = 0
  #keptEvents = 0
  #keptBytes = 0
  /** Everything after this revision, up to the main feed's position, is kept. */
  #floor: Revision = 0
  #closed = false

  constructor (store: StoreFacts) {
    this.#store = store
  }

  add (request: WatchRequest): BackendWatch {
    const watch = new Watch(this, request)
    this.#waiting.add(watch)
    setImmediate(() => this.#place())
    return watch
  }

  drop (watch: Watch): void {
    this.#waiting.delete(watch)
    this.#attached.delete(watch)
    this.#catchingUp.get(watch)?.close()
    this.#catchingUp.delete(watch)
    if (this.#attached.size > 0 || this.#waiting.size > 0 || this.#catchingUp.size > 0) return
    this.#main?.close()
    this.#main = undefined
    this.#forget()
  }

  /** Brings the feed of a watch to where the store is. */
  hurry (watch: Watch): void {
    const seen = this.#store.newestSeen()
    if (watch.feed === undefined) return // asked for again when it has one
    if (watch.feed.position < seen) watch.feed.catchUpTo(seen)
    // What others have written is not known here: the store is asked, one question for all.
    else this.#store.revision().then(newest => { watch.feed?.catchUpTo(newest) }, () => {})
  }

  close (): void {
    this.#closed = true
    this.#main?.close()
    for (const watch of [...this.#waiting, ...this.#attached, ...this.#catchingUp.keys()]) watch.finish(closedError())
  }

  /** Finds every waiting watch its feed. */
  #place (): void {
    if (this.#waiting.size === 0) return
    if (this.#closed) return this.close()
    const seen = this.#store.newestSeen()
    if (seen === 0) {
      // Nothing is known of the store yet. While it can't be reached, the watches wait for it.
      this.#asking ??= this.#store.revision().catch(() => new Promise(resolve => setTimeout(resolve, ASK_AGAIN))).then(() => {
        this.#asking = undefined
        this.#place()
      })
      return
    }
    for (const watch of this.#waiting) {
      this.#waiting.delete(watch)
      if (watch.position < this.#store.compacted()) {
        watch.finish(compacted(watch.position, this.#store.compacted()))
        continue
      }
      if (this.#main === undefined) this.#begin(Math.min(seen, watch.position >= seen - REACH ? watch.position : seen))
      if (watch.position >= this.#floor) this.#attach(watch)
      else this.#catchUp(watch)
    }
  }

  #begin (after: Revision): void {
    this.#floor = after
    this.#forget()
    this.#main = new Feed(this.#store, Math.max(1, after), {
      previous: this.#store.previous,
      events: (events, revision) => {
        this.#keep(events, revision)
        for (const watch of this.#attached) watch.take(events, revision)
      },
      compacted: revision => {
        this.#store.noteCompacted(revision)
        this.#main = undefined
        for (const watch of this.#attached) {
          this.#attached.delete(watch)
          if (watch.position < revision) watch.finish(compacted(watch.position, revision))
          else this.#waiting.add(watch)
        }
        this.#place()
      }
    })
  }

  #attach (watch: Watch): void {
    watch.feed = this.#main
    const kept = this.#kept
    for (let at = this.#dropped; at < kept.length; at++) {
      const one = kept[at]
      if (watch.ended) return
      if (one !== undefined && one.revision > watch.position) watch.take(one.events, one.revision)
    }
    if (watch.ended) return
    this.#attached.add(watch)
    watch.progress()
    if (watch.eagerUntil > 0) this.hurry(watch)
  }

  #catchUp (watch: Watch): void {
    const feed = new Feed(this.#store, Math.max(1, watch.position), {
      previous: this.#store.previous,
      events: (events, revision) => {
        watch.take(events, revision)
        if (watch.ended || this.#main === undefined) return
        if (revision < this.#floor) return feed.catchUpTo(this.#floor)
        feed.close()
        this.#catchingUp.delete(watch)
        this.#attach(watch)
      },
      compacted: revision => {
        this.#store.noteCompacted(revision)
        watch.finish(compacted(watch.position, revision))
      }
    })
    watch.feed = feed
    this.#catchingUp.set(watch, feed)
    feed.catchUpTo(this.#floor)
  }

  #keep (events: BackendEvent[], revision: Revision): void {
    const bytes = events.reduce((sum, { kv, previous }) => sum + kv.value.byteLength + (previous?.value.byteLength ?? 0), 0)
    this.#kept.push({ events, bytes, revision })
    this.#keptEvents += events.length + 1
    this.#keptBytes += bytes
    while (this.#keptEvents > KEPT_EVENTS || this.#keptBytes > KEPT_BYTES) {
      const oldest = this.#kept[this.#dropped]
      if (oldest === undefined) break
      this.#kept[this.#dropped++] = undefined
      this.#keptEvents -= oldest.events.length + 1
      this.#keptBytes -= oldest.bytes
      this.#floor = oldest.revision
    }
    if (this.#dropped * 2 <= this.#kept.length) return
    this.#kept = this.#kept.slice(this.#dropped)
    this.#dropped = 0
  }

  #forget (): void {
    this.#kept = []
    this.#keptEvents = this.#keptBytes = this.#dropped = 0
  }
}

function compacted (position: Revision, revision: Revision): StorageError {
  return new StorageError('Compacted', `changes after revision ${position} are no longer kept, the oldest kept are those after ${revision}`)
}
