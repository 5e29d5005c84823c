/**
 * Ends requests other than watches after --request-timeout, or after their own `?timeout=` if shorter: with 504, or
 * with 408 if the body is incomplete. Requests without their own timeout share one timer, which checks every twentieth
 * of the timeout, at least each second. `fastify.orchUnderWay` has the requests it watches over, for the front page.
 */
import type { FastifyReply } from 'fastify'
import { served, type ServedRequest } from '../answers/request-context.js'
import { parseDuration } from '../schemas/meta/duration.js'
import { badRequest, bodyTooSlow, timeout as timedOut } from '../schemas/status.js'
import { MAX_TIMER_MS } from '../event-loop/clock.js'
import { isLongRunning } from './shared/request-kinds.js'
import { IndexedList } from './shared/indexed-list.js'
import { plugin } from './shared/plugin.js'

export interface DeadlineOptions {
  /** Milliseconds; 0 disables the deadline. Default 60,000. */
  readonly timeout?: number | undefined
}

interface Running { readonly request: ServedRequest, readonly reply: FastifyReply, readonly until: number, at: number }

/** Minimum milliseconds between two checks. */
const MIN_INTERVAL = 10
/** Maximum characters of an invalid duration in the error message. */
const MAX_QUOTED = 100

/** The requested timeout in milliseconds, or Infinity. @throws StatusError 400 */
function requestedTimeout (query: URLSearchParams): number {
  const text = query.get('timeout') ?? ''
  if (text === '') return Infinity
  const nanoseconds = parseDuration(text)
  if (nanoseconds === undefined) {
    throw badRequest(`invalid timeout specified in the request URL: ${JSON.stringify(text.slice(0, MAX_QUOTED))} is ` +
      'no duration such as 1m30s')
  }
  return nanoseconds > 0n ? Number(nanoseconds) / 1e6 : Infinity
}

const SWITCHED_PROTOCOLS = 101

function expire ({ request, reply }: Running): void {
  // the connection no longer speaks HTTP
  if (reply.raw.headersSent && reply.raw.statusCode === SWITCHED_PROTOCOLS) return
  request.orch.end()
  if (reply.sent || reply.raw.headersSent) {
    if (!reply.raw.writableEnded) {
      request.log.info({ auditId: request.orch.auditId }, 'an answer was not finished within its time')
    }
    reply.raw.destroy()
  } else if (request.raw.complete === false) { // undefined for injected requests
    // The rest of the body stays unread, so the connection cannot be reused.
    if (request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
    void reply.send(bodyTooSlow())
  } else {
    request.orch.overdue = true
    void reply.send(timedOut('request did not complete within the allotted timeout'))
  }
}

export default plugin<DeadlineOptions>()(async (fastify, { timeout = 60_000 }) => {
  const { orchClock: clock } = fastify
  const running = new IndexedList<Running>()
  /** Those with a timeout, and a timer, of their own. */
  const timed = new IndexedList<Running>()
  fastify.decorate('orchUnderWay', () => [...running.all, ...timed.all].map(({ request }) => request))
  const longest = timeout > 0 ? timeout : Infinity

  const check = (): void => {
    const now = clock.elapsed()
    for (const late of running.filter(({ until }) => until <= now)) {
      running.remove(late)
      expire(late)
    }
  }
  let stop = (): void => {}
  const repeat = (): void => {
    check()
    stop = clock.after(Math.min(1000, Math.max(MIN_INTERVAL, longest / 20)), repeat)
  }
  if (longest < Infinity) repeat()

  fastify.addHook('onRequest', (arrived, reply, done) => {
    const request = served(arrived)
    const { orch } = request
    if (isLongRunning(orch.info)) return done()
    let allowed = longest
    try {
      allowed = Math.min(longest, requestedTimeout(orch.query))
    } catch (error) {
      return done(error as Error) // a StatusError
    }
    const pending = { request, reply, until: clock.elapsed() + allowed, at: 0 }
    const list = allowed < longest ? timed : running
    list.add(pending)
    orch.onClosed(() => { list.remove(pending) })
    if (list === timed) {
      orch.onClosed(clock.after(Math.min(pending.until - clock.elapsed(), MAX_TIMER_MS), () => { expire(pending) }))
    }
    done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    stop()
    done()
  })
}, { name: 'orch/deadline', fastify: '5.x', decorators: { fastify: ['orchClock'], request: ['orch'] } })
