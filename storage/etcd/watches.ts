/**
 * The watches of one back end, fed by one main feed of all its keys. A short history is kept, so that a watch from a
 * recent revision (usually after a list) joins at once; an older one gets its own feed until it has caught up with that
 * history.
 */
import type { BackendEvent, BackendWatch, Revision, WatchRequest } from '../backend.js'
import { StorageError } from '../errors.js'
import { newEventsOf, callSafely, callOnEnd } from '../watch-callbacks.js'
import { closedError } from './failures.js'
import { SharedWatch, type SharedWatchSource } from './shared-watch.js'

/** Limits of the history. */
const KEPT_EVENTS = 1024
const KEPT_BYTES = 4 * 1024 * 1024
/** How far before the newest known revision the main feed may start. */
const MAX_BACKLOG = 1000
/** How long a watch that requested progress receives every step. */
const EAGER_MS = 5_000
const RETRY_MS = 250

class Watch implements BackendWatch {
  readonly request: WatchRequest
  readonly #owner: Watches
  position: Revision
  /** The feed that serves it; undefined until assigned. */
  feed: SharedWatch | undefined
  ended = false
  eagerUntil = 0

  constructor (owner: Watches, request: WatchRequest) {
    this.#owner = owner
    this.request = request
    this.position = request.after
  }

  requestProgress (): void {
    if (this.ended) return
    this.eagerUntil = performance.now() + EAGER_MS
    queueMicrotask(() => this.progress())
    this.#owner.hurry(this)
  }

  cancel (): void {
    this.ended = true
    this.#owner.drop(this)
  }

  /** Delivers new events; `revision` is the position of its feed. */
  take (events: readonly BackendEvent[], revision: Revision): void {
    const fresh = newEventsOf(events, this.request, this.position)
    if (revision > this.position) this.position = revision
    if (this.ended) return
    if (fresh !== undefined) this.#notify(() => this.request.onEvents(fresh, revision))
    // Report progress after events as well: they may complete the requested progress, and no more may follow.
    if (this.eagerUntil > 0) this.progress(revision)
  }

  /** @param reached revision of complete delivery: the position of its feed, or of the replayed history */
  progress (reached = this.feed?.position): void {
    // No progress for revisions before a start in the future, nor from a feed that is behind the watch's previous one.
    if (this.ended || reached === undefined || reached < this.position || this.eagerUntil === 0) return
    if (performance.now() > this.eagerUntil) this.eagerUntil = 0
    this.#notify(() => this.request.onProgress(reached))
  }

  finish (error: StorageError): void {
    if (this.ended) return
    this.cancel()
    callOnEnd(this.request, error)
  }

  #notify (callback: () => void): void {
    callSafely(callback, error => this.finish(error))
  }
}

/** The back end as the watches use it. */
export interface StoreFacts extends SharedWatchSource {
  /** The newest revision of any response, 0 before the first. */
  readonly newestSeen: () => Revision
  /** Whether events include previous values. */
  readonly previous: boolean
  /** Reads the newest revision from the store. */
  readonly revision: () => Promise<Revision>
  readonly compacted: () => Revision
  readonly noteCompacted: (revision: Revision) => void
}

export class Watches {
  readonly #store: StoreFacts
  readonly #attached = new Set<Watch>()
  readonly #catchingUp = new Map<Watch, SharedWatch>()
  readonly #waiting = new Set<Watch>()
  #main: SharedWatch | undefined
  #revisionRequest: Promise<void> | undefined
  #kept: Array<{ events: BackendEvent[], bytes: number, revision: Revision } | undefined> = []
  /** Number of dropped batches at the front of the history. */
  #dropped = 0
  #keptEvents = 0
  #keptBytes = 0
  /** All events after this revision, up to the main feed's position, are kept. */
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

  /** Advances the feed of a watch to the newest revision of the store. */
  hurry (watch: Watch): void {
    const seen = this.#store.newestSeen()
    if (watch.feed === undefined) return // repeated when a feed is assigned
    if (watch.feed.position < seen) watch.feed.catchUpTo(seen)
    // Writes of other servers are unknown here; one read serves all watches.
    else this.#store.revision().then(newest => { watch.feed?.catchUpTo(newest) }, () => {})
  }

  close (): void {
    this.#closed = true
    this.#main?.close()
    for (const watch of [...this.#waiting, ...this.#attached, ...this.#catchingUp.keys()]) watch.finish(closedError())
  }

  /** Assigns a feed to every waiting watch. */
  #place (): void {
    if (this.#waiting.size === 0) return
    if (this.#closed) return this.close()
    const seen = this.#store.newestSeen()
    if (seen === 0) {
      // No revision is known yet. Watches wait while the store is unreachable.
      this.#revisionRequest ??= this.#store.revision()
        .catch(() => new Promise(resolve => setTimeout(resolve, RETRY_MS)))
        .then(() => {
          this.#revisionRequest = undefined
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
      if (this.#main === undefined) {
        this.#openMain(Math.min(seen, watch.position >= seen - MAX_BACKLOG ? watch.position : seen))
      }
      if (watch.position >= this.#floor) this.#attach(watch)
      else this.#catchUp(watch)
    }
  }

  #openMain (after: Revision): void {
    this.#floor = after
    this.#forget()
    this.#main = new SharedWatch(this.#store, Math.max(1, after), {
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
      const keptBatch = kept[at]
      if (watch.ended) return
      if (keptBatch !== undefined && keptBatch.revision > watch.position) {
        watch.take(keptBatch.events, keptBatch.revision)
      }
    }
    if (watch.ended) return
    this.#attached.add(watch)
    watch.progress()
    if (watch.eagerUntil > 0) this.hurry(watch)
  }

  #catchUp (watch: Watch): void {
    const feed = new SharedWatch(this.#store, Math.max(1, watch.position), {
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
    const bytes = events.reduce((sum, { kv, previous }) =>
      sum + kv.value.byteLength + (previous?.value.byteLength ?? 0), 0)
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
  return new StorageError(
    'Compacted', `changes after revision ${position} are no longer kept, the oldest kept are those after ${revision}`
  )
}
