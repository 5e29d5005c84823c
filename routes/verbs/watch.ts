/**
 * The stream of a watch: first the state it begins with, then events as they happen, now and then a
 * bookmark, until its time is over, the client goes or the server closes. It writes as the client reads; a
 * client that stops reading costs a cursor, and is ended when what it has not read is no longer kept or its
 * connection has taken nothing for too long. (Interface: Watch, Events.)
 */
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { ServerResponse } from 'node:http'
import { badRequest, expired, internalError } from '../../schemas/status.js'
import { isStorageError } from '../../storage/errors.js'
import type { StorageError } from '../../storage/errors.js'
import { TOO_OLD, watch } from '../../storage/operations/watch.js'
import type { ObjectWatch } from '../../storage/operations/watch.js'
import type { ResourceStore } from '../../storage/resource-store.js'
import type { Entry } from '../../storage/cache/entry.js'
import { bool, count, refuseInitialEvents, selectors, text } from '../query.js'
import { begin, Pieces } from '../stream.js'
import { encoderOf } from '../watch-encoder.js'
import type { WatchEncoder } from '../watch-encoder.js'

const BOOKMARK_MS = 60_000
/** A connection that has taken no byte for this long, with bytes waiting, is ended. */
const STALLED_MS = 60_000
const EVENTS_PER_TURN = 500
const TURN_MS = 8

export interface WatchTimes { readonly minRequestTimeoutSeconds: number }

/** Seconds a watch may last: what the client says, else between one and two of the minimum. */
function lifetime (query: URLSearchParams, { minRequestTimeoutSeconds }: WatchTimes): number {
  const asked = count(query, 'timeoutSeconds')
  if (asked !== undefined && asked > 0) return Math.min(asked, 2 ** 31 / 1000 - 1)
  return minRequestTimeoutSeconds * (1 + Math.random())
}

export function watchHandler (store: ResourceStore, times: WatchTimes, closing: () => AbortSignal) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { query, info } = request.orch
    bool(query, 'watch', true)
    refuseInitialEvents(query)
    count(query, 'limit')
    for (const name of ['continue', 'resourceVersionMatch']) {
      if (text(query, name) !== '') throw badRequest(`${name} is forbidden for a watch`)
    }
    const bookmarks = bool(query, 'allowWatchBookmarks')
    const seconds = lifetime(query, times)
    const encoder = encoderOf(request, store)
    // What happens before the stream stands is noticed when it does: the feed keeps its place.
    const link: { stream?: WatchStream, ended?: StorageError } = {}
    const objects = await watch(store, {
      ...selectors(query, store.definition), namespace: info.namespace, resourceVersion: text(query, 'resourceVersion')
    }, { wake: () => { link.stream?.pump() }, end: error => { link.ended = error; link.stream?.fail(error) } })
    if (reply.raw.destroyed) {
      objects.feed.close()
      return reply
    }
    const raw = begin(reply, { 'content-type': encoder.type })
    link.stream = new WatchStream(raw, objects, encoder, { seconds, bookmarks, closing: closing(), log: request.log })
    if (link.ended !== undefined) link.stream.fail(link.ended)
    else link.stream.start()
    return reply
  }
}

interface StreamOptions { readonly seconds: number, readonly bookmarks: boolean, readonly closing: AbortSignal, readonly log: FastifyBaseLogger }

class WatchStream {
  readonly #raw: ServerResponse
  readonly #watch: ObjectWatch
  readonly #encoder: WatchEncoder
  readonly #options: StreamOptions
  readonly #timers: NodeJS.Timeout[] = []
  readonly #finish = (): void => { this.#end(true) }
  /** Key to go on from in the state it begins with; undefined when that is sent. */
  #from: string | undefined
  #blocked = false
  #scheduled = false
  #over = false
  #bookmarked = 0

  constructor (raw: ServerResponse, watch: ObjectWatch, encoder: WatchEncoder, options: StreamOptions) {
    this.#raw = raw
    this.#watch = watch
    this.#encoder = encoder
    this.#options = options
    this.#from = watch.initial === undefined ? undefined : watch.range.start
    raw.on('drain', () => {
      this.#blocked = false
      this.pump()
    })
    raw.on('error', () => { this.#end(false) })
    raw.once('close', () => { this.#end(false) })
    options.closing.addEventListener('abort', this.#finish, { once: true })
    this.#timers.push(setTimeout(() => { this.#end(true) }, options.seconds * 1000))
    if (options.bookmarks) this.#timers.push(setInterval(() => { this.#bookmark() }, BOOKMARK_MS))
    let before = -1
    this.#timers.push(setInterval(() => {
      const written = raw.socket?.bytesWritten ?? 0
      if (this.#blocked && written === before) raw.destroy()
      before = written
    }, STALLED_MS))
    for (const timer of this.#timers) timer.unref()
  }

  start (): void {
    if (this.#options.closing.aborted) return this.#end(true)
    this.#raw.flushHeaders()
    this.pump()
  }

  /** Writes what there is until there is nothing, the client is behind, or this turn has lasted long enough. */
  pump (): void {
    if (this.#over || this.#blocked) return
    try {
      if (this.#from !== undefined && !this.#state()) return
      this.#events()
    } catch (error) {
      this.fail(error)
    }
  }

  #write = (piece: Uint8Array): boolean => {
    const open = this.#raw.write(piece)
    if (!open) this.#blocked = true
    return open
  }

  /** Sends a part of the state to begin with; true when all is sent. */
  #state (): boolean {
    const { initial, range, wanted } = this.#watch
    if (initial === undefined || this.#from === undefined) return true
    const pieces = new Pieces(this.#write)
    const since = performance.now()
    let next: string | undefined
    let seen = 0
    initial.map.forEach(this.#from, range.end, (entry: Entry, key) => {
      const open = !wanted(entry) || pieces.add(this.#encoder.added(entry))
      if (open && (++seen % 64 !== 0 || performance.now() - since < TURN_MS)) return true
      next = `${key}\0`
      return false
    })
    pieces.flush()
    this.#from = next
    if (next !== undefined && !this.#blocked) this.#later()
    return next === undefined && !this.#blocked
  }

  #events (): void {
    const { feed, everything, show } = this.#watch
    const { events, id } = feed.take(EVENTS_PER_TURN)
    if (events.length > 0) {
      const bytes = everything ? this.#encoder.batch(events, id) : this.#encoder.shown(events, show)
      if (bytes.length > 0) this.#write(bytes)
    }
    if (id !== '' && !this.#blocked) this.#later()
  }

  #later (): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.pump()
    })
  }

  #bookmark (): void {
    if (this.#over || this.#blocked || this.#from !== undefined) return
    const revision = this.#watch.feed.revision()
    if (revision === undefined || revision <= this.#bookmarked) return
    this.#bookmarked = revision
    this.#write(this.#encoder.bookmark(revision))
  }

  /** The history is lost, or an event can't be shown: says so, if anybody still reads, and ends. */
  fail (error: unknown): void {
    if (this.#over) return
    const lost = isStorageError(error, 'Compacted')
    const closed = isStorageError(error, 'Closed')
    if (!lost && !closed) this.#options.log.error({ err: error }, 'a watch failed')
    if (!closed && !this.#blocked) this.#write(this.#encoder.failure((lost ? expired(TOO_OLD) : internalError(error)).status))
    this.#end(true)
    if (this.#blocked) this.#raw.destroy()
  }

  #end (politely: boolean): void {
    if (this.#over) return
    if (politely && this.#options.bookmarks) this.#bookmark()
    this.#over = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#options.closing.removeEventListener('abort', this.#finish)
    this.#watch.feed.close()
    if (politely) this.#raw.end()
    else this.#raw.destroy()
  }
}
