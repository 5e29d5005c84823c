/**
 * Records the newest exchanges of a test server, up to a maximum, for assertions. Health probes and the loading of
 * fixtures are not recorded.
 */
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, FastifyRequest, FastifyReply } from 'fastify'
import { matches, matchedOf, PROBE, resourceOf, type MatchedRequest, type RequestMatch } from './match.js'
import { millisecondsOf, type Duration } from './clock.js'
import type { Known } from './load.js'
import { checkMatch, checkNext, checkPlural } from './options.js'
import { LOADER } from './users.js'

export interface Exchange {
  /** Milliseconds since 1970 on the server's clock, at arrival. */
  readonly at: number
  readonly method: string
  /** With its query. */
  readonly url: string
  /** Undefined if authentication refused the request. */
  readonly user: string | undefined
  /** As in `RequestMatch`; `resource`, `namespace` and `name` are '' if the URL has none. */
  readonly verb: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
  /**
   * What the client sent: parsed if it is JSON, else text. Undefined without a body, if it was not read, or above 256
   * KiB.
   */
  readonly body: unknown
  /** 0 until the response begins, and if the connection ends first. */
  readonly status: number
  /** False while the response lasts, for example that of an open watch. */
  readonly ended: boolean
  /** Names of the faults that were injected. */
  readonly faults: readonly string[]
}

export interface ExchangeMatch extends RequestMatch {
  readonly status?: number
  /** Members that the body must have, at any depth. */
  readonly body?: unknown
}

export interface NextOptions {
  /** By the clock of the machine, also where the server's is held. Default as long as it takes. */
  readonly within?: Duration
}

export interface Exchanges extends Iterable<Exchange> {
  readonly size: number
  /** Matching exchanges, in order of arrival. */
  find: (match?: ExchangeMatch) => readonly Exchange[]
  /**
   * The first matching exchange, past or future, once it has ended; a watch once its response has begun. Rejects when
   * the server is disposed, and where none came in time with an error that lists what came instead.
   */
  next: (match?: ExchangeMatch, options?: NextOptions) => Promise<Exchange>
  clear: () => void
}

class Recorded implements Exchange {
  readonly at: number
  readonly method: string
  readonly url: string
  readonly user: string | undefined
  readonly verb: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
  status = 0
  ended = false
  readonly faults: string[] = []

  constructor (at: number, readonly body: unknown, request: MatchedRequest) {
    const { method, url, user, info } = request
    this.at = at
    this.method = method
    this.url = url
    this.user = user
    this.verb = info.verb
    this.resource = resourceOf(info)
    this.namespace = info.namespace
    this.name = info.name
  }
}

interface RecordedExchange { readonly exchange: Recorded, readonly request: MatchedRequest, readonly bytes: number }
interface Waiting {
  readonly match: ExchangeMatch, readonly resolve: (exchange: Exchange) => void, readonly reject: (error: Error) => void
}

/** Exchanges that an error lists. */
const SHOWN = 10

/** A pattern in an error, with regular expressions. */
const shown = (match: ExchangeMatch): string =>
  JSON.stringify(match, (_name, value: unknown) => value instanceof RegExp ? String(value) : value)

const MAX_BODY_BYTES = 256 * 1024
/** Maximum bytes of all recorded bodies. */
const MAX_BYTES = 32 * 1024 * 1024

export class ExchangeLog implements Exchanges {
  readonly #limit: number
  readonly #now: () => number
  #all: RecordedExchange[] = []
  #bytes = 0
  readonly #byRequest = new WeakMap<FastifyRequest, RecordedExchange>()
  readonly #waiting = new Set<Waiting>()
  #known: (() => Known) | undefined

  /** @param limit maximum number of recorded exchanges */
  constructor (limit: number, now: () => number) {
    this.#limit = limit
    this.#now = now
  }

  get size (): number { return this.#all.length }

  [Symbol.iterator] (): Iterator<Exchange> { return this.find()[Symbol.iterator]() }

  find (match: ExchangeMatch = {}): readonly Exchange[] {
    this.#check(match)
    return this.#all.filter(exchange => isMatch(match, exchange)).map(({ exchange }) => exchange)
  }

  async next (match: ExchangeMatch = {}, options: NextOptions = {}): Promise<Exchange> {
    this.#check(match)
    checkNext(options)
    const { within } = options
    const milliseconds = within === undefined ? undefined : millisecondsOf(within)
    const first = this.#all.find(recorded => isComplete(recorded) && isMatch(match, recorded))
    if (first !== undefined) return first.exchange
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<Exchange>((resolve, reject) => {
        const waiting = { match, resolve, reject }
        this.#waiting.add(waiting)
        if (milliseconds === undefined) return
        timer = setTimeout(() => {
          this.#waiting.delete(waiting)
          reject(new Error(`no exchange matched ${shown(match)} within ${milliseconds} ms; ${this.#came()}`))
        }, milliseconds)
      })
    } finally {
      clearTimeout(timer)
    }
  }

  #check (match: ExchangeMatch): void {
    checkMatch(match, 'match', true)
    const known = this.#known?.()
    if (known !== undefined) checkPlural(match, 'match', known)
  }

  /** The newest exchanges, for an error. */
  #came (): string {
    const lines = this.#all.slice(-SHOWN).map(({ exchange: { method, url, status, verb, resource, user } }) =>
      `  ${method} ${url} ${status === 0 ? 'not answered' : status} (${verb} ${resource}, ${user ?? 'nobody'})`)
    if (lines.length === 0) return 'there were none at all'
    const earlier = this.#all.length - lines.length
    return `there were${earlier === 0 ? '' : `, after ${earlier} others`}:\n${lines.join('\n')}`
  }

  clear (): void {
    this.#all = []
    this.#bytes = 0
  }

  /** Adds the recording hooks around the server, so that its refusals are recorded too. */
  observe (fastify: FastifyInstance, known: () => Known): void {
    this.#known = known
    fastify.addHook('preHandler', (request, reply, done) => {
      this.#record(request, reply)
      done()
    })
    fastify.addHook('onResponse', (request, reply, done) => {
      this.#update(request, reply, true)
      done()
    })
    fastify.addHook('onRequestAbort', (request, done) => {
      const kept = this.#byRequest.get(request)
      if (kept !== undefined) this.#end(kept)
      done()
    })
  }

  addFault (request: FastifyRequest, name: string): void { this.#byRequest.get(request)?.exchange.faults.push(name) }

  end (): void {
    for (const { reject } of this.#waiting) reject(new Error('the test server was disposed before the exchange came'))
    this.#waiting.clear()
  }

  /** Returns undefined if the request is not recorded. */
  #record (request: FastifyRequest, reply: FastifyReply): RecordedExchange | undefined {
    const known = this.#byRequest.get(request)
    const matched = known === undefined && !PROBE.test(request.url) ? matchedOf(request) : undefined
    if (matched === undefined || matched.user === LOADER.username) return known
    const { body } = request
    const bytes = Buffer.isBuffer(body) && body.length <= MAX_BODY_BYTES ? body.length : 0 // larger ones are not kept
    const kept = {
      exchange: new Recorded(this.#now(), bytes > 0 ? read(body as Buffer) : undefined, matched), request: matched,
      bytes
    }
    this.#byRequest.set(request, kept)
    this.#all.push(kept)
    this.#bytes += bytes
    while (this.#all.length > this.#limit || this.#bytes > MAX_BYTES) this.#bytes -= this.#all.shift()?.bytes ?? 0
    this.#updateAtHead(request, reply)
    return kept
  }

  /** Updates the status when the head is sent: clients may assert on it as soon as they have the response. */
  #updateAtHead (request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = reply
    const { writeHead } = raw
    raw.writeHead = ((...args: Parameters<typeof writeHead>) => {
      raw.writeHead = writeHead
      const result = writeHead.apply(raw, args)
      this.#update(request, reply, false)
      return result
    }) as typeof writeHead // overloads differ only in arguments that are passed on
  }

  #update (request: FastifyRequest, reply: FastifyReply, ended: boolean): void {
    const kept = this.#record(request, reply)
    if (kept === undefined) return
    kept.exchange.status = reply.raw.headersSent ? reply.raw.statusCode : 0
    if (ended) this.#end(kept)
    else if (isComplete(kept)) this.#settle(kept)
  }

  #end (kept: RecordedExchange): void {
    kept.exchange.ended = true
    this.#settle(kept)
  }

  #settle (kept: RecordedExchange): void {
    for (const waiting of [...this.#waiting]) {
      if (isMatch(waiting.match, kept) && this.#waiting.delete(waiting)) waiting.resolve(kept.exchange)
    }
  }
}

const isComplete = ({ exchange: { ended, verb, status } }: RecordedExchange): boolean => ended ||
  (verb === 'watch' && status > 0)

function isMatch (match: ExchangeMatch, { exchange, request }: RecordedExchange): boolean {
  return matches(match, request) && (match.status === undefined || match.status === exchange.status) &&
    (match.body === undefined || contains(exchange.body, match.body))
}

/** True if `wanted` is equal, or an object whose members are all contained. */
function contains (actual: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return isDeepStrictEqual(actual, wanted)
  return typeof actual === 'object' && actual !== null &&
    Object.entries(wanted).every(([name, value]) => contains((actual as Record<string, unknown>)[name], value))
}

function read (body: Buffer): unknown {
  const text = body.toString()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
