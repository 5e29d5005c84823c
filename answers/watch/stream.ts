/**
 * One open watch: the initial state, then events, with bookmarks at intervals, until its time is over, the client
 * disconnects or the server shuts down. It writes at the pace of the client. A stalled client costs a cursor and at
 * most one chunk; it is ended when its next event has been dropped or its connection accepts no bytes for too long.
 * (Interface: Watch, Events.)
 */
import type { FastifyBaseLogger } from 'fastify'
import { expired, internalError, isStatusError } from '../../schemas/status.js'
import type { Revision } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { Feed, FeedBatch } from '../../storage/cache/feed.js'
import { isStorageError } from '../../storage/errors.js'
import { TOO_OLD, type ObjectWatch } from '../../registry/verbs/watch.js'
import { isLarge } from '../../event-loop/turns.js'
import type { BodyOutput } from '../body.js'
import { CHUNK_BYTES as SPARE_BYTES, reuseChunk } from '../chunks.js'
import type { WatchEncoder } from './encoder.js'
import { InitialState, type Part } from './initial.js'
import type { WatchObserver } from './metrics.js'
import { Sink } from './sink.js'
import type { OpenWatch, OpenWatches } from './turns.js'

/** Maximum time between bookmarks, with a random spread. */
const BOOKMARK_MS = 60_000
const BOOKMARK_SPREAD_MS = 10_000
/** A last bookmark is due this long before the watch times out, so that the client can resume. */
const BEFORE_END_MS = 2000
/** A chunk has this many bytes, or one event more; a stalled client costs one chunk. */
const CHUNK_BYTES = 64 * 1024
/** The same for the initial state, in memory that is used again; parts of it have frames. */
const INITIAL_BYTES = SPARE_BYTES - 1024
const EVENTS_PER_CHUNK = 500

export interface StreamOptions {
  readonly raw: BodyOutput
  readonly watch: ObjectWatch
  readonly encoder: (chunked: boolean) => WatchEncoder
  readonly seconds: number
  readonly bookmarks: boolean
  /** Whether a bookmark follows the initial state. */
  readonly marked: boolean
  /** Called once: the initial state has been sent whole, with its mark. */
  readonly listed: (() => void) | undefined
  /** Called once: the initial state has been sent, or the rest waits for the client. */
  readonly begun: () => void
  readonly open: OpenWatches
  /** Resolves when the watch has reached the store's newest revision; undefined if it already has. */
  readonly fresh: () => Promise<void> | undefined
  readonly log: FastifyBaseLogger
  readonly auditId: string
  /** Rate limit; 0 for none. */
  readonly bytesPerSecond: number
  readonly observer: WatchObserver
}

export class WatchStream implements OpenWatch {
  due = 0
  queued = false
  // Separate fields instead of the options: a thousand watches wake at once, and each object visited is a CPU cache
  // miss.
  readonly #sink: Sink
  readonly #encoder: WatchEncoder
  readonly #open: OpenWatches
  readonly #feed: Feed
  readonly #unfiltered: boolean
  readonly #toVersion: ObjectWatch['toVersion']
  readonly #bookmarks: boolean
  readonly #fresh: StreamOptions['fresh']
  readonly #log: FastifyBaseLogger
  readonly #auditId: string
  readonly #observer: WatchObserver
  readonly #chunkBytes: number
  readonly #initialBytes: number
  /** When the watch times out. */
  readonly #until: number
  /** The initial state; released once sent, because it retains replaced objects. */
  #initial: InitialState | undefined
  /** The version of the initial state, until the bookmark that marks its end. */
  #unmarked: Revision | undefined
  #begun: StreamOptions['begun'] | undefined
  #listed: StreamOptions['listed']
  #ended = false
  #finishing = false
  /** The forms of large objects are being made. */
  #waits = false
  #bookmarkDue = false
  #bookmarked = 0

  /** The head has been sent; `pump` starts the stream. */
  constructor (options: StreamOptions) {
    const { raw, watch, seconds, open } = options
    const { initial } = watch
    this.#open = open
    this.#feed = watch.feed
    this.#unfiltered = watch.everything
    this.#toVersion = watch.toVersion
    this.#bookmarks = options.bookmarks
    this.#fresh = options.fresh
    this.#log = options.log
    this.#auditId = options.auditId
    this.#observer = options.observer
    const { bytesPerSecond } = options
    this.#chunkBytes = bytesPerSecond === 0 ? CHUNK_BYTES : Math.min(CHUNK_BYTES, bytesPerSecond)
    this.#initialBytes = bytesPerSecond === 0 ? INITIAL_BYTES : this.#chunkBytes
    this.#initial = initial === undefined ? undefined : new InitialState(initial, watch)
    this.#unmarked = options.marked ? initial?.revision : undefined
    this.#begun = options.begun
    this.#listed = options.listed
    const listener = { drained: () => { open.wake(this) }, closed: () => { this.#end(false) } }
    this.#sink = new Sink(raw, listener, undefined, options.bytesPerSecond)
    this.#encoder = options.encoder(this.#sink.chunked)
    this.#until = open.now() + seconds * 1000
    open.add(this, this.#untilNextTick())
  }

  /** Events may be available: schedules `pump` in this turn or a later one. */
  wake (): void {
    if (!this.#sink.blocked) this.#open.wake(this)
  }

  /** Writes until nothing is pending, the client is behind, or this turn's share is used. */
  pump (): void {
    if (this.#ended || this.#waits) return
    try {
      if (!this.#sink.blocked && (this.#initial === undefined || this.#sendInitial()) && this.#mark()) {
        this.#sendEvents()
      }
      if (this.#waits) return
      if (this.#begun !== undefined && (this.#initial === undefined || this.#sink.blocked)) {
        this.#begun()
        this.#begun = undefined // it holds the request
      }
      if (this.#ended) return
      if (this.#finishing) return this.#end(true)
      if (this.#bookmarkDue) this.#bookmark()
    } catch (error) {
      this.fail(error)
    }
  }

  tick (): number {
    if (this.#open.now() >= this.#until) this.#finishing = true
    else if (this.#bookmarks) this.#bookmarkDue = true
    if (!this.#finishing && !this.#bookmarkDue) return this.#untilNextTick()
    const fresh = this.#finishing ? undefined : this.#fresh()
    if (fresh === undefined) this.#open.later(this)
    else fresh.then(() => { this.wake() }, () => {}) // store unavailable: another bookmark follows
    return this.#untilNextTick()
  }

  finish (): void { this.#finishing = true }

  /** Milliseconds until the next tick. */
  #untilNextTick (): number {
    const remaining = this.#until - this.#open.now()
    if (!this.#bookmarks || remaining <= BEFORE_END_MS) return remaining
    return Math.min(remaining - BEFORE_END_MS, BOOKMARK_MS - BOOKMARK_SPREAD_MS * Math.random())
  }

  /** Sends a part of the initial state; true if it is complete and the client is not behind. */
  #sendInitial (): boolean {
    if (this.#initial === undefined) return true
    const { most = Infinity, isSlow, sizeOf, leaf } = this.#encoder
    const limits = { bytes: this.#initialBytes, most, isSlow, sizeOf, leaf }
    const { parts, count, entries, bytes, isLast } = this.#initial.next(limits)
    if (isLast) this.#initial = undefined
    if (isLarge(bytes) || most !== Infinity) this.#open.tookLong()
    const write = (): boolean => this.#writeInitial(parts, count)
    if (count > 0 && !this.#withForms(entries, write)) return false
    if (!isLast) this.#open.later(this)
    return isLast
  }

  #writeInitial (parts: readonly Part[], count: number): boolean {
    const bytes = this.#encoder.added(parts)
    this.#open.wrote(bytes.length)
    this.#observer.sent(count, bytes.length, true)
    return this.#sink.write(bytes, () => { reuseChunk(bytes) })
  }

  /** Says that the initial state is complete; true if the client is not behind. */
  #mark (): boolean {
    if (this.#unmarked === undefined) return true
    const revision = this.#bookmarked = this.#unmarked
    this.#unmarked = undefined
    const isReady = this.#write(this.#encoder.bookmark(revision, true), 1)
    this.#listed?.()
    this.#listed = undefined
    return isReady
  }

  #sendEvents (): void {
    const { most } = this.#encoder
    const { events, id, more } = this.#feed.take(most ?? EVENTS_PER_CHUNK, this.#chunkBytes)
    if (most !== undefined) this.#open.tookLong()
    const write = (): boolean => this.#writeEvents(events, id)
    if (events.length > 0 && !this.#withForms(events.map(({ entry }) => entry), write)) return
    if (more && !this.#sink.blocked) this.#open.later(this)
  }

  #writeEvents (events: FeedBatch['events'], id: string): boolean {
    let sent = 0
    const bytes = this.#unfiltered
      ? this.#encoder.batch(events, id)
      : this.#encoder.encodeVersioned(events, event => {
          const visible = this.#toVersion(event)
          if (visible !== undefined) sent++
          return visible
        })
    return bytes.length === 0 || this.#write(bytes, this.#unfiltered ? events.length : sent)
  }

  /**
   * Writes at once if the forms of the entries are there; otherwise goes on with the rest when they are.
   * @returns whether the next may be written
   */
  #withForms (entries: readonly Entry[], write: () => boolean): boolean {
    const missing = this.#encoder.forms(entries)
    if (missing === undefined) return write()
    this.#waits = true
    missing.then(() => {
      this.#waits = false
      if (this.#ended) return
      write()
      this.#open.later(this)
    }).catch((error: unknown) => { this.fail(error) })
    return false
  }

  #write (chunk: Buffer, events: number): boolean {
    this.#open.wrote(chunk.length)
    this.#observer.sent(events, chunk.length, false)
    return this.#sink.write(chunk)
  }

  #bookmark (): void {
    if (this.#sink.blocked || this.#initial !== undefined || this.#unmarked !== undefined) return
    const revision = this.#feed.revision()
    if (revision === undefined) return // send pending events first
    this.#bookmarkDue = false
    this.#bookmarked = revision
    const bytes = this.#encoder.bookmark(revision)
    this.#observer.sent(1, bytes.length, false)
    this.#sink.write(bytes)
  }

  /** Ends the watch with an ERROR event, if the client still reads: the history was lost, or an event is unreadable. */
  fail (error: unknown): void {
    if (this.#ended) return
    const lost = isStorageError(error, 'Compacted')
    const closed = isStorageError(error, 'Closed')
    const refused = isStatusError(error)
    if (lost) this.#observer.terminated()
    if (!lost && !closed && !refused) this.#log.error({ err: error, auditId: this.#auditId }, 'a watch failed')
    if (!closed && !this.#sink.blocked) {
      const { status } = lost ? expired(TOO_OLD) : refused ? error : internalError(error)
      this.#sink.write(this.#encoder.failure(status))
    }
    if (!closed) this.#bookmarked = Infinity // a bookmark would cover the unsent event
    this.#end(true)
  }

  #end (gracefully: boolean): void {
    if (this.#ended) return
    if (gracefully && this.#bookmarks && (this.#feed.revision() ?? 0) > this.#bookmarked) this.#bookmark()
    this.#ended = true
    this.#open.remove(this)
    this.#feed.close()
    if (gracefully) this.#sink.end()
    else this.#sink.destroy()
  }
}
