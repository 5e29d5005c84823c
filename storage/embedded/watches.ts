/**
 * The watches of one engine. A watch that starts in the past is fed from the log in batches, between turns
 * of the loop, until it has caught up; then it joins the live ones, in the same step, so that nothing
 * falls between. Live watches are called synchronously, batch by batch, before the writers are answered.
 */
import type { BackendEvent, BackendWatch, Revision, WatchRequest } from '../backend.js'
import { StorageError } from '../errors.js'
import { newsOf, callSafely, callOnEnd } from '../watch-callbacks.js'

/** What the watches need to know about the history they are fed from. */
export interface WatchSource {
  /** The newest revision that all live watches have been given. */
  delivered: () => Revision
  /** The newest revision that is durable; greater than `delivered` only while a batch is being given out. */
  durable: () => Revision
  compacted: () => Revision
  /** Events in (after, upTo] of the range, of whole revisions, as many as a short turn allows, and how far that is. */
  replay: (start: string, end: string, after: Revision, upTo: Revision) => { events: BackendEvent[], revision: Revision }
}

class Watch implements BackendWatch {
  readonly request: WatchRequest
  readonly #hub: WatchHub
  position: Revision
  ended = false
  progressWanted = false

  constructor (hub: WatchHub, request: WatchRequest) {
    this.#hub = hub
    this.request = request
    this.position = request.after
  }

  requestProgress (): void {
    if (this.ended || this.progressWanted) return
    this.progressWanted = true
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

  /** Gives a batch of durable events, in order, to every live watch. */
  publish (events: readonly BackendEvent[], revision: Revision): void {
    this.#publishing = true
    for (const watch of this.#live) {
      const news = newsOf(events, watch.request, watch.position)
      if (revision > watch.position) watch.position = revision
      if (news !== undefined) this.#give(watch, news, revision)
    }
    this.#publishing = false
  }

  answerProgress (watch: Watch): void {
    if (watch.ended || !watch.progressWanted || !this.#live.has(watch)) return
    const delivered = this.#source.delivered()
    watch.progressWanted = false
    // A watch that starts in the future has been given nothing of what came before it, so it can't vouch for that.
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
      return this.#end(watch, new StorageError('Compacted', `changes after revision ${watch.position} are no longer kept, the oldest kept are those after ${compacted}`))
    }
    const upTo = source.durable()
    if (watch.position < upTo) {
      let batch
      try {
        batch = source.replay(watch.request.start, watch.request.end, watch.position, upTo)
      } catch (error) {
        return this.#end(watch, error instanceof StorageError ? error : new StorageError('Corrupt', 'the change log could not be read', { cause: error }))
      }
      watch.position = batch.revision
      if (batch.events.length > 0) this.#give(watch, batch.events, batch.revision)
      if (watch.ended) return
    }
    // A callback above may have let a commit in, so the question is asked anew.
    if (!this.#publishing && watch.position >= source.durable()) {
      this.#replaying.delete(watch)
      this.#live.add(watch)
      this.answerProgress(watch)
    } else {
      setImmediate(() => this.#replay(watch))
    }
  }

  #give (watch: Watch, events: BackendEvent[], revision: Revision): void {
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
