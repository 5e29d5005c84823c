/**
 * A watch for another process that cannot be served from the pushed changes, because it starts in the past or needs
 * previous values. A watch of the past ends once it has caught up. It pauses reading the history while the other
 * process is slow to receive.
 */
import type { Backend, BackendEvent, BackendWatch, Revision } from '../backend.js'
import type { StorageError } from '../errors.js'
import { Kind } from './frames.js'
import type { FrameConnection } from './frame-connection.js'

/** The watch is paused while more bytes than this wait to be sent. */
const MAX_WAITING = 1024 * 1024

export interface WatchRequest {
  /** Identifies the watch on the connection. */
  readonly number: number
  readonly start: string
  readonly end: string
  readonly after: Revision
  /** True if the watch is served until it ends, false if only until it has caught up. */
  readonly follows: boolean
  readonly previous: boolean
}

export class PushedWatch {
  readonly #backend: Backend
  readonly #connection: FrameConnection
  readonly #request: WatchRequest
  readonly #over: () => void
  #watch: BackendWatch | undefined
  #position: Revision
  #wantsProgress = false
  #isOver = false

  constructor (backend: Backend, connection: FrameConnection, request: WatchRequest, over: () => void) {
    this.#backend = backend
    this.#connection = connection
    this.#request = request
    this.#over = over
    this.#position = request.after
    this.#wantsProgress = !request.follows
    this.#open()
  }

  requestProgress (): void {
    this.#wantsProgress = true
    this.#watch?.requestProgress()
  }

  cancel (): void {
    this.#isOver = true
    this.#watch?.cancel()
  }

  #open (): void {
    const { start, end, follows, previous } = this.#request
    this.#watch = this.#backend.watch({
      start,
      end,
      after: this.#position,
      previous,
      onEvents: (events, revision) => { this.#send(events, revision) },
      onProgress: revision => {
        this.#wantsProgress = false
        this.#connection.begin(follows ? Kind.reached : Kind.caughtUp, this.#request.number).number(revision).end()
        if (!follows) this.#finish()
      },
      onEnd: error => { this.#end(error) }
    })
    if (this.#wantsProgress) this.#watch.requestProgress()
  }

  #send (events: readonly BackendEvent[], revision: Revision): void {
    this.#position = revision
    const frame = this.#connection.begin(Kind.events, this.#request.number).number(revision).number(events.length)
    for (const event of events) frame.event(event, this.#request.previous ? event.previous : undefined)
    frame.end()
    if (this.#connection.waiting <= MAX_WAITING) return
    this.#watch?.cancel()
    this.#connection.whenDrained(() => { if (!this.#isOver) this.#open() })
  }

  #end (error: StorageError): void {
    this.#connection.begin(Kind.ended, this.#request.number).error(error).end()
    this.#finish()
  }

  #finish (): void {
    this.cancel()
    this.#over()
  }
}
