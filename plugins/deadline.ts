/**
 * No request but a watch runs for ever: after --request-timeout, or its own `?timeout=` where that is shorter, it is answered 504, or 408
 * when its body has not arrived, and what it waits for is told to stop. One timer serves all that ask for nothing: they are
 * checked so often that none is more than a twentieth of its time late, and each second at least.
 */
import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseDuration } from '../schemas/meta/duration.js'
import { badRequest, bodyTooSlow, timeout as timedOut } from '../schemas/status.js'
import { MAX_TIMER_MS } from '../storage/clock.js'
import { isLongRunning } from './request-kinds.js'
import { IndexedList } from './indexed-list.js'

export interface DeadlineOptions {
  /** Milliseconds; 0 never. Default 60,000. */
  readonly timeout?: number | undefined
}

interface Running { readonly request: FastifyRequest, readonly reply: FastifyReply, readonly until: number, at: number }

/** Milliseconds between two checks. */
const LEAST_PAUSE = 10
/** Of a duration that is shown to whoever sent it. */
const MOST_SHOWN = 100

/** Milliseconds, Infinity where nothing is asked for. @throws StatusError 400 */
function wanted (query: URLSearchParams): number {
  const text = query.get('timeout') ?? ''
  if (text === '') return Infinity
  const nanoseconds = parseDuration(text)
  if (nanoseconds === undefined) throw badRequest(`invalid timeout specified in the request URL: ${JSON.stringify(text.slice(0, MOST_SHOWN))} is no duration such as 1m30s`)
  return nanoseconds > 0n ? Number(nanoseconds) / 1e6 : Infinity
}

/** The request is over, however far it has got. */
function expire ({ request, reply }: Running): void {
  request.orch.end()
  if (reply.sent) reply.raw.destroy()
  else if (request.raw.complete === false) { // injected requests do not say
    // The rest of the body is not waited for, so nothing can follow it on its connection.
    if (request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
    void reply.send(bodyTooSlow())
  } else void reply.send(timedOut('request did not complete within the allotted timeout'))
}

export default fp<DeadlineOptions>(async (fastify, { timeout = 60_000 }) => {
  const running = new IndexedList<Running>()
  const longest = timeout > 0 ? timeout : Infinity

  const check = (): void => {
    const now = performance.now()
    for (const late of running.filter(({ until }) => until <= now)) {
      running.remove(late)
      expire(late)
    }
  }
  const checks = longest < Infinity ? setInterval(check, Math.min(1000, Math.max(LEAST_PAUSE, longest / 20))).unref() : undefined

  fastify.addHook('onRequest', (request, reply, done) => {
    const { orch } = request
    if (isLongRunning(orch.info)) return done()
    let allowed = longest
    try {
      allowed = Math.min(longest, wanted(orch.query))
    } catch (error) {
      return done(error as Error) // what `wanted` throws is one
    }
    const one = { request, reply, until: orch.trace.startedAt + allowed, at: 0 }
    if (allowed < longest) {
      const timer = setTimeout(expire, Math.min(one.until - performance.now(), MAX_TIMER_MS), one).unref()
      orch.onClosed(() => { clearTimeout(timer) })
    } else if (allowed < Infinity) {
      running.add(one)
      orch.onClosed(() => { running.remove(one) })
    }
    done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(checks)
    done()
  })
}, { name: 'orch/deadline', fastify: '5.x', dependencies: ['orch/request-info'] })
