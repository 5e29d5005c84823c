/**
 * No request but a watch runs for ever: after --request-timeout it is answered 504, or 408 when its body has not
 * arrived, and what it waits for is told to stop. One timer serves all requests: they are checked each second.
 */
import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bodyTooSlow, timeout as timedOut } from '../schemas/status.js'
import { isLongRunning } from './request-kinds.js'

export interface DeadlineOptions {
  /** Milliseconds; 0 never. */
  readonly timeout: number
}

interface Running { readonly request: FastifyRequest, readonly reply: FastifyReply, readonly until: number, at: number }

/**
 * What runs now, in no order. An array whose slots are reused: a map sheds tables as it churns, and each
 * keeps the requests of its time alive until the next full collection.
 */
export class Slots<T extends { at: number }> {
  readonly #all: T[] = []

  add (one: T): void {
    one.at = this.#all.length
    this.#all.push(one)
  }

  /** Does nothing for one that is not there any more. */
  remove (one: T): void {
    if (this.#all[one.at] !== one) return
    const last = this.#all.pop() as T // not empty: `one` is in it
    if (last === one) return
    this.#all[one.at] = last
    last.at = one.at
  }

  filter (chosen: (one: T) => boolean): T[] { return this.#all.filter(chosen) }
}

export default fp<DeadlineOptions>(async (fastify, { timeout }) => {
  const running = new Slots<Running>()
  if (timeout <= 0) return

  const check = setInterval(() => {
    const now = performance.now()
    for (const late of running.filter(({ until }) => until <= now)) {
      const { request, reply } = late
      running.remove(late)
      request.orch.end()
      if (reply.sent) reply.raw.destroy()
      else if (request.raw.complete === false) { // injected requests do not say
        // The rest of the body is not waited for, so nothing can follow it on its connection.
        if (request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
        void reply.send(bodyTooSlow())
      } else void reply.send(timedOut(`the request did not finish within ${timeout / 1000} s`))
    }
  }, Math.min(1000, timeout))
  check.unref()

  fastify.addHook('onRequest', (request, reply, done) => {
    if (!isLongRunning(request.orch.info)) {
      const one = { request, reply, until: performance.now() + timeout, at: 0 }
      running.add(one)
      request.orch.onClosed(() => { running.remove(one) })
    }
    done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(check)
    done()
  })
}, { name: 'orch/deadline', fastify: '5.x', dependencies: ['orch/request-info'] })
