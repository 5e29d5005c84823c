/**
 * The watches of one engine. A watch that starts in the past receives the log in batches, in separate event loop turns;
 * once it has caught up, it joins the live watches in the same step, so that no event is lost. Live watches are called
 * synchronously, batch by batch, before the writers' promises resolve.
 */
import type { BackendEvent, BackendWatch, Revision, WatchRequest } from '../backend.js'
import { StorageError } from '../errors.js'
import type { KeyRange, RevisionRange } from './snapshot.js'
import { newEventsOf, callSafely, callOnEnd } from '../watch-callbacks.js'

/** The history, as watches need it. */
export interface WatchSource {
  /** The newest revision delivered to all live watches. */
  delivered: () => Revision
  /** The newest durable revision; greater than `delivered` only while a batch is being delivered. */
  durable: () => Revision
  compacted: () => Revision
  /**
   * Events of the keys in these revisions, whole ones, as many as fit in a short turn, and the revision reached.
   */
  replay: (keys: KeyRange, revisions: RevisionRange) => { events: BackendEvent[], revision: Revision }
}

class Watch implements BackendWatch {
  readonly request: WatchRequest
  readonly #hub: WatchHub
  position: Revision
  ended = false
  progressRequested = false

  constructor (hub: WatchHub, request: WatchRequest) {
    this.#hub = hub
    this.request = request
    this.position = request.after
  }

  requestProgress (): void {
    if (this.ended || this.progressRequested) return
    this.progressRequested = true
    queueMicrotask(() => this.#hub.answerProgress(this))
  }

  cancel (): void {
    this.ended = true
    this.#hub.drop(this)
  }
}

export class WatchHub {
  readonly #source: WatchSource
  readonly #live = new Set<Watch>()
  readonly #replaying = new Set<Watch>()
  #publishing = false
  #closed: StorageError | undefined

  constructor (source: WatchSource) {
    this.#source = source
  }

  add (request: WatchRequest): BackendWatch {
    const watch = new Watch(this, request)
    if (this.#closed === undefined && !this.#publishing && request.after >= this.#source.durable()) {
      this.#live.add(watch)
    } else {
      this.#replaying.add(watch)
      setImmediate(() => this.#replay(watch))
    }
    return watch
  }

  drop (watch: Watch): void {
    this.#live.delete(watch)
    this.#replaying.delete(watch)
  }

  /** Delivers a batch of durable events, in order, to every live watch. */
  publish (events: readonly BackendEvent[], revision: Revision): void {
    this.#publishing = true
    for (const watch of this.#live) {
      const fresh = newEventsOf(events, watch.request, watch.position)
      if (revision > watch.position) watch.position = revision
      if (fresh !== undefined) this.#deliver(watch, fresh, revision)
    }
    this.#publishing = false
  }

  answerProgress (watch: Watch): void {
    if (watch.ended || !watch.progressRequested || !this.#live.has(watch)) return
    const delivered = this.#source.delivered()
    watch.progressRequested = false
    // A watch that starts in the future has not received earlier events, so it reports no progress for them.
    if (delivered < watch.request.after) return
    this.#callSafely(watch, () => watch.request.onProgress(delivered))
  }

  close (error: StorageError): void {
    this.#closed = error
    for (const watch of [...this.#live, ...this.#replaying]) this.#end(watch, error)
  }

  #replay (watch: Watch): void {
    if (watch.ended) return
    const source = this.#source
    const compacted = source.compacted()
    if (this.#closed !== undefined) return this.#end(watch, this.#closed)
    if (watch.position < compacted) {
      return this.#end(watch, new StorageError(
        'Compacted',
        `changes after revision ${watch.position} are no longer kept, the oldest kept are those after ${compacted}`
      ))
    }
    const upTo = source.durable()
    if (watch.position < upTo) {
      let batch
      try {
        batch = source.replay(watch.request, { after: watch.position, upTo })
      } catch (error) {
        return this.#end(watch, error instanceof StorageError
          ? error
          : new StorageError('Corrupt', 'the change log could not be read', { cause: error }))
      }
      watch.position = batch.revision
      if (batch.events.length > 0) this.#deliver(watch, batch.events, batch.revision)
      if (watch.ended) return
    }
    // Check again: a callback may have let a commit in.
    if (!this.#publishing && watch.position >= source.durable()) {
      this.#replaying.delete(watch)
      this.#live.add(watch)
      this.answerProgress(watch)
    } else {
      setImmediate(() => this.#replay(watch))
    }
  }

  #deliver (watch: Watch, events: BackendEvent[], revision: Revision): void {
    if (!watch.ended) this.#callSafely(watch, () => watch.request.onEvents(events, revision))
  }

  #callSafely (watch: Watch, callback: () => void): void {
    callSafely(callback, error => this.#end(watch, error))
  }

  #end (watch: Watch, error: StorageError): void {
    if (watch.ended) return
    watch.cancel()
    callOnEnd(watch.request, error)
  }
}
