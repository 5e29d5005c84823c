/**
 * Requests that come through the HTTP/2 server of a host, and so through Node's compatibility classes: ended where Node
 * would leave them under way for ever. A stream that its client gives up without an error code never closes, not
 * even with its connection; and of a connection that broke the protocol Node neither reads nor says anything any more.
 * And an answer that is cut off is reset with an error: Node resets it without one, which clients take for its end.
 * The launcher's own listener does the same for its connections (`serving/sessions.ts`, `serving/core-response.ts`).
 *
 * It stands behind request info, whose `onClosed` tells when a request is over.
 */
import { constants, Http2ServerResponse, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import fp from 'fastify-plugin'

export interface Http2SessionsOptions {
  /** Milliseconds between two questions to a client with requests under way whether it is still there. Default 30 seconds. */
  readonly interval?: number
}

/** So many questions in a row that were not answered, and the client has gone. */
const MOST_UNANSWERED = 3

interface Followed { underWay: number, unanswered: number }

/** A client that gives up an answer without an error code ends the stream for Node, which waits for bytes to leave that never will. */
function ended (this: ServerHttp2Stream): void {
  if (this.closed && !this.writableFinished) this.destroy()
}

function cutOff (this: Http2ServerResponse, error?: Error): Http2ServerResponse {
  if (!this.writableFinished && !this.stream.closed) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  return Http2ServerResponse.prototype.destroy.call(this, error) as Http2ServerResponse
}

export default fp<Http2SessionsOptions>(async (fastify, { interval = 30_000 }) => {
  const sessions = new Map<Http2Session, Followed>()
  let look: NodeJS.Timeout | undefined

  const ask = (): void => {
    for (const [session, followed] of sessions) {
      if (session.destroyed || followed.unanswered >= MOST_UNANSWERED) {
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
        const followed = sessions.get(session) ?? { underWay: 0, unanswered: 0 }
        followed.underWay++
        sessions.set(session, followed)
        look ??= setInterval(ask, interval).unref()
        request.orch.onClosed(() => { if (--followed.underWay === 0) sessions.delete(session) })
      }
    }
    done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(look)
    done()
  })
}, { name: 'orch/http2-sessions', fastify: '5.x', dependencies: ['orch/request-info'] })
