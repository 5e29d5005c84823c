/**
 * No request but a watch runs for ever: after --request-timeout it is answered 504 and what it waits for is
 * told to stop. One timer serves all requests: they are checked each second, oldest first.
 */
import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { timeout as timedOut } from '../schemas/status.js'
import { isLongRunning } from './long-running.js'

export interface DeadlineOptions {
  /** Milliseconds; 0 never. */
  readonly timeout: number
}

interface Running { readonly request: FastifyRequest, readonly reply: FastifyReply, readonly until: number }

export default fp<DeadlineOptions>(async (fastify, { timeout }) => {
  const running = new Map<FastifyRequest, Running>()
  if (timeout <= 0) return

  const check = setInterval(() => {
    const now = performance.now()
    for (const { request, reply, until } of running.values()) {
      if (until > now) break
      running.delete(request)
      request.orch.end()
      if (reply.sent) {
        reply.raw.destroy()
        continue
      }
      void reply.send(timedOut(`the request did not finish within ${timeout / 1000} s`))
    }
  }, Math.min(1000, timeout))
  check.unref()

  fastify.addHook('onRequest', (request, reply, done) => {
    if (!isLongRunning(request.orch.info)) {
      running.set(request, { request, reply, until: performance.now() + timeout })
      request.orch.onClosed(() => { running.delete(request) })
    }
    done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(check)
    done()
  })
}, { name: 'orch/deadline', fastify: '5.x', dependencies: ['orch/request-info'] })
