/**
 * Faults of networks and servers, injected into matching requests. Each fault makes its random choices from a seed of
 * its own, so that a run can be repeated.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ServerResponse } from 'node:http'
import { served } from '../answers/request-context.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import { StatusError, type StatusReason } from '../schemas/status.js'
import type { Clock } from '../event-loop/clock.js'
import { breakAtHead, breakOff, intercept, type Pass } from './answer-bytes.js'
import { millisecondsOf, type Duration } from './clock.js'
import type { ExchangeLog } from './exchanges.js'
import type { Known } from './load.js'
import { matchedOf, matches, PROBE, type MatchedRequest, type RequestMatch } from './match.js'
import { checkFault, checkMatch, checkResource } from './options.js'
import { randomFrom } from './random.js'
import { readOlder } from './stale-reads.js'
import { LOADER } from './users.js'

/** When the connection (over HTTP/2, the stream) breaks. */
export type Break =
  /** The request has no effect. */
  | 'before'
  /** The request takes effect, but the client gets no answer. */
  | 'after'
  /** After that many bytes of the body, chunk framing included. */
  | { readonly bytes: number }
  /** For a watch: after that many events, bookmarks included. */
  | { readonly events: number }

export interface Fault {
  /** Default all requests except health probes. */
  readonly on?: RequestMatch
  /** Number of matching requests that pass first. Default 0. */
  readonly skip?: number
  /** Maximum number of injections. Default unlimited. */
  readonly times?: number
  /** Probability, 0 to 1, for each matching request. Default 1. */
  readonly probability?: number
  /** Name in the exchange log. Default a description of the fault. */
  readonly name?: string
  /**
   * Delays the request before it is handled, by the server's clock. If that is held, the request waits until it is
   * moved.
   */
  readonly delay?: Duration
  /** Responds with this code and a Status; the request has no effect. */
  readonly status?: 409 | 410 | 429 | 500 | 503 | 504
  /** Retry-After in seconds, with 429, 500, 503 and 504. */
  readonly retryAfter?: number
  readonly disconnect?: Break
  /**
   * Lists and reads of objects that accept an older state, by `resourceVersion=0` or the version that they need at
   * least, are answered without this many newest changes of the type, as a server whose cache is behind does: an object
   * may be missing, or still there. Not for subresources of another kind, such as `scale`.
   */
  readonly stale?: number
  /**
   * The reads that `stale` concerns. With `any`, also those without a resourceVersion, to which only a broken server,
   * or a cache before it, sends an older state. Default `accepting`.
   */
  readonly staleReads?: 'accepting' | 'any'
  /** Sends each event of a watch twice. */
  readonly duplicate?: true
}

export interface InjectedFault {
  readonly fault: Fault
  /** Number of injections so far. */
  readonly count: number
  remove: () => void
}

export interface Faults {
  readonly seed: number
  /** @throws TypeError for a fault without effect, or with an unknown or invalid member, verb or resource */
  add: (fault: Fault) => InjectedFault
  /** Removes all faults. Requests that are already delayed stay delayed. */
  clear: () => void
  /** Breaks the connections of the open watches that match. @returns their number */
  dropWatches: (match?: RequestMatch) => number
}

const REASONS = {
  409: 'Conflict', 410: 'Expired', 429: 'TooManyRequests', 500: 'InternalError', 503: 'ServiceUnavailable',
  504: 'Timeout'
} as const satisfies Record<NonNullable<Fault['status']>, StatusReason>
const CAN_RETRY = new Set<number>([429, 500, 503, 504])
const EFFECTS = ['delay', 'status', 'disconnect', 'stale', 'duplicate'] as const
const NEWLINE = 10

class Active implements InjectedFault {
  count = 0
  #matched = 0
  readonly #random: () => number

  constructor (readonly fault: Fault, seed: number, readonly remove: () => void) { this.#random = randomFrom(seed) }

  get name (): string {
    return this.fault.name ?? EFFECTS.filter(effect => this.fault[effect] !== undefined).map(effect => {
      const value = this.fault[effect]
      return value === true ? effect : `${effect} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`
    }).join(', ')
  }

  /** Counts the matching request, and returns whether the fault applies to it. */
  applies (request: MatchedRequest): boolean {
    const { on = {}, skip = 0, times = Infinity, probability = 1 } = this.fault
    if (this.count >= times || !matches(on, request) || this.#matched++ < skip ||
      (probability < 1 && this.#random() >= probability)) return false
    this.count++
    return true
  }
}

export class FaultInjector implements Faults {
  readonly seed: number
  readonly #clock: Clock
  #active: Active[] = []
  #added = 0
  #known: (() => Known) | undefined
  readonly #watches = new Map<ServerResponse, MatchedRequest>()

  constructor (seed: number, clock: Clock) {
    this.seed = seed
    this.#clock = clock
  }

  add (fault: Fault): InjectedFault {
    check(fault)
    if (fault.on !== undefined) this.#checkMatch(fault.on, 'on')
    const active: Active = new Active(fault, this.seed +
      this.#added++, () => { this.#active = this.#active.filter(pattern => pattern !== active) })
    this.#active.push(active)
    return active
  }

  clear (): void { this.#active = [] }

  dropWatches (match: RequestMatch = {}): number {
    this.#checkMatch(match, 'match')
    const targets = [...this.#watches].filter(([, request]) => matches(match, request))
    for (const [raw] of targets) breakOff(raw)
    return targets.length
  }

  #checkMatch (match: RequestMatch, at: string): void {
    checkMatch(match, at)
    const known = this.#known?.()
    if (known !== undefined) checkResource(match, at, known)
  }

  /** Adds the hook that injects faults. It must run after the hooks of `exchanges`. */
  inject (fastify: FastifyInstance, exchanges: ExchangeLog, known: () => Known): void {
    this.#known = known
    fastify.addHook('preHandler', (request, reply, done) => {
      const matched = PROBE.test(request.url) ? undefined : matchedOf(request)
      if (matched === undefined || matched.user === LOADER.username) return done()
      if (matched.info.verb === 'watch') {
        this.#watches.set(reply.raw, matched)
        reply.raw.once('close', () => { this.#watches.delete(reply.raw) })
      }
      const applying = this.#active.filter(active => active.applies(matched))
      if (applying.length === 0) return done()
      for (const { name } of applying) exchanges.addFault(request, name)
      const delay = applying.reduce((sum, { fault }) => sum + millisecondsOf(fault.delay ?? 0), 0)
      const go = (): void => { this.#apply(applying, reply, known().resources, done) }
      if (delay === 0) go()
      else served(request).orch.onClosed(this.#clock.after(delay, () => { if (!reply.raw.destroyed) go() }))
    })
  }

  #apply (
    applying: readonly Active[], reply: FastifyReply, resources: ResourceRegistry, done: (error?: Error) => void
  ): void {
    let answered = false
    for (const { name, fault: { status, retryAfter, disconnect, stale, staleReads, duplicate } } of applying) {
      if (disconnect === 'before') {
        reply.hijack() // nothing is answered, so audit, the exchange log and deadlines must not see an answer
        return breakOff(reply.raw)
      }
      if (status !== undefined) {
        return done(new StatusError(REASONS[status], `a fault was injected: ${name}`, {
          unlogged: true, ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } })
        }))
      }
      if (stale !== undefined && !answered) {
        answered = readOlder(reply, { changes: stale, any: staleReads === 'any' }, resources, done)
      }
      if (duplicate === true && served(reply.request).orch.info.verb === 'watch') intercept(reply.raw, twice())
      if (disconnect === 'after') breakAtHead(reply.raw)
      else if (disconnect !== undefined) {
        intercept(reply.raw, 'bytes' in disconnect ? cutAfter(disconnect.bytes) : cutAfterEvents(disconnect.events))
      }
    }
    if (!answered) done()
  }
}

function check (fault: Fault): void {
  checkFault(fault)
  const { status, retryAfter, disconnect, stale, staleReads } = fault
  if (EFFECTS.every(effect => fault[effect] === undefined)) {
    throw new TypeError(`the fault has no effect: give one of ${EFFECTS.join(', ')}`)
  }
  if (status !== undefined && !Object.hasOwn(REASONS, status)) {
    throw new TypeError(`status: ${JSON.stringify(status)}: must be one of ${Object.keys(REASONS).join(', ')}`)
  }
  if (retryAfter !== undefined && (status === undefined || !CAN_RETRY.has(status))) {
    throw new TypeError(`retryAfter needs status, one of ${[...CAN_RETRY].join(', ')}`)
  }
  if (typeof disconnect === 'string' && !['before', 'after'].includes(disconnect)) {
    throw new TypeError(
      `disconnect: ${JSON.stringify(disconnect)}: must be before, after, or an object with bytes or events`
    )
  }
  if (stale !== undefined && (!Number.isSafeInteger(stale) || stale < 0)) {
    throw new TypeError(`stale: ${JSON.stringify(stale)}: must be a number of changes`)
  }
  if (staleReads !== undefined && (stale === undefined || !['accepting', 'any'].includes(staleReads))) {
    throw new TypeError(stale === undefined
      ? 'staleReads needs stale'
      : `staleReads: ${JSON.stringify(staleReads)}: must be accepting or any`)
  }
  if (fault.delay !== undefined) millisecondsOf(fault.delay)
}

function cutAfter (most: number): Pass {
  let left = most
  return bytes => {
    const sent = bytes.subarray(0, left)
    left -= sent.length
    return { bytes: sent, broken: sent.length < bytes.length }
  }
}

/** An event ends with a newline. */
function cutAfterEvents (most: number): Pass {
  let left = most
  return bytes => {
    if (left === 0) return { bytes: bytes.subarray(0, 0), broken: true }
    // In chunk framing an event ends with a newline without a carriage return before it.
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      if (bytes[at - 1] !== 13 && --left === 0) return { bytes: bytes.subarray(0, at + 1), broken: true }
    }
    return { bytes }
  }
}

/** Repeats each write that consists of whole events. */
function twice (): Pass {
  let whole = true
  return bytes => {
    const isWhole = whole
    const end = bytes.subarray(-3).toString('latin1')
    whole = end.endsWith('}\n') || end === '\n\r\n'
    return { bytes: isWhole && whole ? Buffer.concat([bytes, bytes]) : bytes }
  }
}
