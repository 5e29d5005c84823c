/**
 * The watches of one process on the store of another. All changes are pushed to the process once, and each watch takes
 * those in its range. A watch of the past is served individually until it has caught up, and so is each watch after the
 * connection was lost. A watch that needs previous values is always served individually.
 */
import type { BackendEvent, BackendWatch, Revision, WatchRequest } from '../backend.js'
import { StorageError } from '../errors.js'
import { callOnEnd, callSafely, newEventsOf } from '../watch-callbacks.js'
import { Kind, type Frame } from './frames.js'
import type { FrameConnection } from './frame-connection.js'

class Watch implements BackendWatch {
  readonly number: number
  readonly request: WatchRequest
  readonly #owner: Watches
  position: Revision
  ended = false
  wantsProgress = false

  constructor (owner: Watches, number: number, request: WatchRequest) {
    this.#owner = owner
    this.number = number
    this.request = request
    this.position = request.after
  }

  get follows (): boolean { return this.request.previous !== false }

  requestProgress (): void {
    if (this.ended || this.wantsProgress) return
    this.wantsProgress = true
    this.#owner.progress(this)
  }

  cancel (): void {
    if (this.ended) return
    this.ended = true
    this.#owner.drop(this)
  }

  take (events: readonly BackendEvent[], revision: Revision): void {
    const fresh = newEventsOf(events, this.request, this.position)
    if (revision > this.position) this.position = revision
    if (fresh !== undefined && !this.ended) {
      callSafely(() => { this.request.onEvents(fresh, revision) }, error => { this.finish(error) })
    }
  }

  reached (revision: Revision): void {
    if (revision > this.position) this.position = revision
    if (!this.wantsProgress || this.ended) return
    this.wantsProgress = false
    if (revision < this.request.after) return // it has not received earlier changes
    callSafely(() => { this.request.onProgress(revision) }, error => { this.finish(error) })
  }

  finish (error: StorageError): void {
    if (this.ended) return
    this.cancel()
    callOnEnd(this.request, error)
  }
}

export class Watches {
  /** Watches that have not ended, by number. */
  readonly #all = new Map<number, Watch>()
  /** Watches that receive the changes pushed to the process. */
  readonly #live = new Set<Watch>()
  /** Watches that must first receive what they missed while the connection was lost. */
  readonly #resuming = new Set<Watch>()
  #connection: FrameConnection | undefined
  #last = 0
  /** The live watches have received all changes up to this revision. */
  #position: Revision = 0
  #closed: StorageError | undefined
  /** Callers that wait until a revision has been pushed. */
  #waiters: Array<{ readonly revision: Revision, readonly resolve: () => void }> = []

  get position (): Revision { return this.#position }

  /** True if the process is connected and no watch is still catching up. */
  get isWhole (): boolean { return this.#connection !== undefined && this.#resuming.size === 0 }

  /** Resolves when the changes up to the revision have been pushed, or the connection is lost. */
  reached (revision: Revision): Promise<void> {
    if (this.#position >= revision || this.#connection === undefined) return Promise.resolve()
    return new Promise(resolve => { this.#waiters.push({ revision, resolve }) })
  }

  add (request: WatchRequest): BackendWatch {
    const watch = new Watch(this, ++this.#last, request)
    this.#all.set(watch.number, watch)
    if (this.#closed !== undefined) {
      const error = this.#closed
      setImmediate(() => { watch.finish(error) })
    } else if (this.#connection !== undefined) this.#open(watch, this.#connection)
    return watch
  }

  /** Called with a new connection, on which all changes after the revision are pushed. */
  connected (connection: FrameConnection, revision: Revision): void {
    this.#connection = connection
    this.#position = Math.max(this.#position, revision)
    for (const watch of this.#all.values()) {
      if (watch.position < revision || watch.follows) this.#resuming.add(watch)
      this.#open(watch, connection)
    }
  }

  disconnected (): void {
    this.#connection = undefined
    this.#live.clear()
    this.#resuming.clear()
    for (const { resolve } of this.#waiters.splice(0)) resolve()
  }

  take (frame: Frame): void {
    if (frame.kind === Kind.changes) return this.#push(frame)
    const watch = this.#all.get(frame.number)
    if (watch === undefined) return // it was cancelled
    switch (frame.kind) {
      case Kind.events: {
        const revision = frame.revision()
        return watch.take(frame.events(), revision)
      }
      case Kind.reached:
        this.#resuming.delete(watch)
        return watch.reached(frame.revision())
      case Kind.caughtUp: {
        const revision = frame.revision()
        this.#resuming.delete(watch)
        this.#live.add(watch)
        // The changes up to here have been pushed before.
        return watch.reached(revision)
      }
      case Kind.ended: return watch.finish(frame.error())
    }
  }

  progress (watch: Watch): void {
    if (watch.follows) this.#connection?.begin(Kind.progress, watch.number).end()
    else if (this.#live.has(watch)) queueMicrotask(() => { if (this.#live.has(watch)) watch.reached(this.#position) })
  }

  drop (watch: Watch): void {
    this.#all.delete(watch.number)
    this.#resuming.delete(watch)
    if (!this.#live.delete(watch)) this.#connection?.begin(Kind.cancel, watch.number).end()
  }

  close (error: StorageError): void {
    this.#closed = error
    for (const watch of [...this.#all.values()]) watch.finish(error)
  }

  #push (frame: Frame): void {
    const revision = frame.revision()
    const events = frame.events()
    for (const watch of this.#live) watch.take(events, revision)
    this.#position = revision
    if (this.#waiters.length === 0) return
    const waiting = this.#waiters
    this.#waiters = waiting.filter(waiter => waiter.revision > revision)
    for (const waiter of waiting) if (waiter.revision <= revision) waiter.resolve()
  }

  #open (watch: Watch, connection: FrameConnection): void {
    const { position, follows, request: { start, end } } = watch
    if (!follows && position >= this.#position) {
      this.#live.add(watch)
      if (watch.wantsProgress) this.progress(watch)
      return
    }
    connection.begin(Kind.watch, watch.number)
      .ascii(start).ascii(end).number(position).byte(follows ? 1 : 0).byte(follows ? 1 : 0).end()
    if (follows && (watch.wantsProgress || this.#resuming.has(watch))) {
      connection.begin(Kind.progress, watch.number).end()
    }
  }
}
