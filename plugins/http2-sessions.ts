/**
 * Ends HTTP/2 requests that Node's compatibility API leaves open on a host's server
 * (`serving/wire/compatible-responses.ts`), and pings clients with active requests: after a protocol error Node stops
 * reading a connection and reports nothing, in Node 26 too. The launcher's listener has its own handling
 * (`serving/sessions.ts`, `serving/core-response.ts`). Registered after request info, which provides `onClosed`.
 */
import { Http2ServerResponse, type Http2Session } from 'node:http2'
import { served } from '../answers/request-context.js'
import { destroyWhenCancelled, resetWhenDestroyed } from '../serving/wire/compatible-responses.js'
import { plugin } from './shared/plugin.js'

export interface Http2SessionsOptions {
  /** Milliseconds between pings to clients with active requests. Default 30 seconds. */
  readonly interval?: number
}

/** Unanswered pings after which the session is destroyed. */
const MAX_UNANSWERED = 3

interface Followed { active: number, unanswered: number }

export default plugin<Http2SessionsOptions>()(async (fastify, { interval = 30_000 }) => {
  const sessions = new Map<Http2Session, Followed>()
  let pingTimer: NodeJS.Timeout | undefined

  const pingAll = (): void => {
    for (const [session, followed] of sessions) {
      if (session.destroyed || followed.unanswered >= MAX_UNANSWERED) {
        sessions.delete(session)
        session.destroy()
        continue
      }
      followed.unanswered++
      session.ping(error => { if (error === null) followed.unanswered = 0 })
    }
  }

  fastify.addHook('onRequest', (request, reply, done) => {
    const raw: unknown = reply.raw
    if (raw instanceof Http2ServerResponse) {
      const { stream } = raw
      const { session } = stream
      destroyWhenCancelled(stream)
      resetWhenDestroyed(raw)
      if (session !== undefined) {
        const followed = sessions.get(session) ?? { active: 0, unanswered: 0 }
        followed.active++
        sessions.set(session, followed)
        pingTimer ??= setInterval(pingAll, interval).unref()
        served(request).orch.onClosed(() => { if (--followed.active === 0) sessions.delete(session) })
      }
    }
    done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(pingTimer)
    done()
  })
}, { name: 'orch/http2-sessions', fastify: '5.x', decorators: { request: ['orch'] } })
