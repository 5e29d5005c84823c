/**
 * One open watch: first the state it begins with, then events as they happen, now and then a bookmark, until
 * its time is over, the client goes or the server closes. It writes as the client reads; a client that stops
 * reading costs a cursor and at most a chunk, and is ended when what it has not read is no longer kept or its
 * connection has taken nothing for too long. (Interface: Watch, Events.)
 */
import type { FastifyBaseLogger } from 'fastify'
import type { ServerResponse } from 'node:http'
import { expired, internalError } from '../schemas/status.js'
import type { Entry } from '../storage/cache/entry.js'
import type { Feed } from '../storage/cache/feed.js'
import type { Snapshot } from '../storage/cache/watch-cache.js'
import { isStorageError } from '../storage/errors.js'
import { TOO_OLD } from '../registry/operations/watch.js'
import type { ObjectWatch } from '../registry/operations/watch.js'
import { isLarge, turnIsOver } from '../storage/turns.js'
import type { WatchEncoder } from './watch-encoder.js'
import type { WatchObserver } from './watch-metrics.js'
import { Sink } from './watch-sink.js'
import type { OpenWatch, OpenWatches } from './watch-turns.js'

/** Between two bookmarks, at most; they are spread over the last part of it. */
const BOOKMARK_MS = 60_000
const BOOKMARK_SPREAD_MS = 10_000
/** A client whose watch ends with its time has a version to go on from by then. */
const BEFORE_END_MS = 2000
/** A chunk is so many bytes, or one event more: it is what a client that does not read costs. */
const CHUNK_BYTES = 64 * 1024
const EVENTS_PER_CHUNK = 500
const ENTRIES_PER_CHECK = 64

export interface StreamOptions {
  readonly raw: ServerResponse
  readonly watch: ObjectWatch
  readonly encoder: (chunked: boolean) => WatchEncoder
  readonly seconds: number
  readonly bookmarks: boolean
  readonly open: OpenWatches
  /** Resolves when the revision of the watch is as new as the store's; undefined when it is now. */
  readonly fresh: () => Promise<void> | undefined
  readonly log: FastifyBaseLogger
  /** Bytes that may leave; 0 is no bound. */
  readonly bytesPerSecond: number
  readonly observer: WatchObserver
}

export class WatchStream implements OpenWatch {
  due = 0
  queued = false
  // Not the options themselves: a thousand watches wake at once, and each object on the way is a miss of the processor's cache.
  readonly #sink: Sink
  readonly #encoder: WatchEncoder
  readonly #open: OpenWatches
  readonly #feed: Feed
  readonly #everything: boolean
  readonly #toVersion: ObjectWatch['toVersion']
  readonly #bookmarks: boolean
  readonly #fresh: StreamOptions['fresh']
  readonly #log: FastifyBaseLogger
  readonly #observer: WatchObserver
  readonly #chunkBytes: number
  /** When its time is over. */
  readonly #until: number
  /** The state it begins with; let go of when it is sent, as it keeps alive what has changed since. */
  #initial: Pick<ObjectWatch, 'range' | 'matches'> & { readonly map: Snapshot['map'] } | undefined
  /** Key to go on from in it. */
  #from: string
  #over = false
  #finishing = false
  #bookmarkDue = false
  #bookmarked = 0

  /** Its head is sent; `pump` begins it. */
  constructor (options: StreamOptions) {
    const { raw, watch, seconds, open } = options
    const { initial, range, matches } = watch
    this.#open = open
    this.#feed = watch.feed
    this.#everything = watch.everything
    this.#toVersion = watch.toVersion
    this.#bookmarks = options.bookmarks
    this.#fresh = options.fresh
    this.#log = options.log
    this.#observer = options.observer
    this.#chunkBytes = options.bytesPerSecond === 0 ? CHUNK_BYTES : Math.min(CHUNK_BYTES, options.bytesPerSecond)
    this.#initial = initial === undefined ? undefined : { range, matches, map: initial.map }
    this.#from = range.start
    this.#sink = new Sink(raw, { drained: () => { open.wake(this) }, closed: () => { this.#end(false) } }, undefined, options.bytesPerSecond)
    this.#encoder = options.encoder(this.#sink.chunked)
    this.#until = open.now() + seconds * 1000
    open.add(this, this.#next())
  }

  /** There may be events: they are written in this turn or one of the next. */
  wake (): void {
    if (!this.#sink.blocked) this.#open.wake(this)
  }

  /** Writes what there is until there is nothing, the client is behind, or this turn's part is done. */
  pump (): void {
    if (this.#over) return
    try {
      if (!this.#sink.blocked && (this.#initial === undefined || this.#state())) this.#events()
      if (this.#over) return
      if (this.#finishing) return this.#end(true)
      if (this.#bookmarkDue) this.#bookmark()
    } catch (error) {
      this.fail(error)
    }
  }

  tick (): number {
    if (this.#open.now() >= this.#until) this.#finishing = true
    else if (this.#bookmarks) this.#bookmarkDue = true
    if (!this.#finishing && !this.#bookmarkDue) return this.#next()
    const fresh = this.#finishing ? undefined : this.#fresh()
    if (fresh === undefined) this.#open.later(this)
    else fresh.then(() => { this.wake() }, () => {}) // the store is away: there is another bookmark to come
    return this.#next()
  }

  finish (): void { this.#finishing = true }

  /** Milliseconds to its next tick. */
  #next (): number {
    const left = this.#until - this.#open.now()
    if (!this.#bookmarks || left <= BEFORE_END_MS) return left
    return Math.min(left - BEFORE_END_MS, BOOKMARK_MS - BOOKMARK_SPREAD_MS * Math.random())
  }

  /** Sends a part of the state to begin with; true when all is sent and the client is not behind. */
  #state (): boolean {
    if (this.#initial === undefined) return true
    const { map, range, matches } = this.#initial
    let next: string | undefined
    let seen = 0
    let bytes = 0
    const entries: Entry[] = []
    map.forEach(this.#from, range.end, (entry: Entry, key) => {
      if (matches(entry)) {
        entries.push(entry)
        bytes += entry.json.length
      }
      if (bytes < this.#chunkBytes && (++seen % ENTRIES_PER_CHECK !== 0 || !turnIsOver())) return true
      next = `${key}\0`
      return false
    })
    if (next === undefined) this.#initial = undefined
    else this.#from = next
    if (isLarge(bytes)) this.#open.tookLong()
    const open = entries.length === 0 || this.#write(this.#encoder.added(entries), entries.length, true)
    if (next !== undefined && open) this.#open.later(this)
    return next === undefined && open
  }

  #events (): void {
    const { events, id, more } = this.#feed.take(EVENTS_PER_CHUNK, this.#chunkBytes)
    if (events.length > 0) {
      let shown = 0
      const bytes = this.#everything
        ? this.#encoder.batch(events, id)
        : this.#encoder.encodeVersioned(events, event => {
          const found = this.#toVersion(event)
          if (found !== undefined) shown++
          return found
        })
      if (bytes.length > 0) this.#write(bytes, this.#everything ? events.length : shown)
    }
    if (more && !this.#sink.blocked) this.#open.later(this)
  }

  #write (chunk: Buffer, events: number, initial = false): boolean {
    this.#open.wrote(chunk.length)
    this.#observer.sent(events, chunk.length, initial)
    return this.#sink.write(chunk)
  }

  #bookmark (): void {
    if (this.#sink.blocked || this.#initial !== undefined) return
    const revision = this.#feed.revision()
    if (revision === undefined) return // there are events: it comes behind them
    this.#bookmarkDue = false
    this.#bookmarked = revision
    const bytes = this.#encoder.bookmark(revision)
    this.#observer.sent(1, bytes.length, false)
    this.#sink.write(bytes)
  }

  /** The history is lost, or an event can't be shown: says so, if anybody still reads, and ends. */
  fail (error: unknown): void {
    if (this.#over) return
    const lost = isStorageError(error, 'Compacted')
    const closed = isStorageError(error, 'Closed')
    if (lost) this.#observer.terminated()
    if (!lost && !closed) this.#log.error({ err: error }, 'a watch failed')
    if (!closed && !this.#sink.blocked) this.#sink.write(this.#encoder.failure((lost ? expired(TOO_OLD) : internalError(error)).status))
    if (!closed) this.#bookmarked = Infinity // a bookmark would vouch for what could not be shown
    this.#end(true)
  }

  #end (politely: boolean): void {
    if (this.#over) return
    if (politely && this.#bookmarks && (this.#feed.revision() ?? 0) > this.#bookmarked) this.#bookmark()
    this.#over = true
    this.#open.remove(this)
    this.#feed.close()
    if (politely) this.#sink.end()
    else this.#sink.destroy()
  }
}
