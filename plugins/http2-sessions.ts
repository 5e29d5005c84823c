/**
 * Ends HTTP/2 requests that Node's compatibility API leaves open on a host's server. Without this, a stream that its client cancels without
 * an error code never closes, even with its connection; Node stops reading a connection after a protocol error; and truncated responses end
 * without an error, so clients take them for complete. The launcher's listener has its own handling (`serving/sessions.ts`,
 * `serving/core-response.ts`).
 * Registered after request info, which provides `onClosed`.
 */
import { constants, Http2ServerResponse, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import fp from 'fastify-plugin'

export interface Http2SessionsOptions {
  /** Milliseconds between pings to clients with active requests. Default 30 seconds. */
  readonly interval?: number
}

/** Unanswered pings after which the session is destroyed. */
const MAX_UNANSWERED = 3

interface Followed { active: number, unanswered: number }

/** Destroys a stream that its client cancelled without an error code: Node would wait forever for it to flush. */
function ended (this: ServerHttp2Stream): void {
  if (this.closed && !this.writableFinished) this.destroy()
}

function cutOff (this: Http2ServerResponse, error?: Error): Http2ServerResponse {
  if (!this.writableFinished && !this.stream.closed) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  return Http2ServerResponse.prototype.destroy.call(this, error) as Http2ServerResponse
}

export default fp<Http2SessionsOptions>(async (fastify, { interval = 30_000 }) => {
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
      stream.on('end', ended)
      raw.destroy = cutOff
      if (session !== undefined) {
        const followed = sessions.get(session) ?? { active: 0, unanswered: 0 }
        followed.active++
        sessions.set(session, followed)
        pingTimer ??= setInterval(pingAll, interval).unref()
        request.orch.onClosed(() => { if (--followed.active === 0) sessions.delete(session) })
      }
    }
    done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(pingTimer)
    done()
  })
}, { name: 'orch/http2-sessions', fastify: '5.x', dependencies: ['orch/request-info'] })
