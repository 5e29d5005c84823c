/**
 * Asking clients of HTTP/2 to go on over another connection, without taking a request from them that is on its way.
 *
 * The protocol means a GOAWAY with the highest stream number for that, but Node takes no new streams once it has sent any GOAWAY
 * and says nothing of those it passes over. So the GOAWAY is sent when nothing is on its way: what comes on the connection is held
 * from the moment on in which its end is decided, until its client has answered pings between which no request came and
 * no answer ended. A client that waits for answers has nothing left to send by then. What is held is served right behind the
 * GOAWAY. A request that comes later all the same is beyond the stream that is named there, so that its client knows that nobody has
 * seen it and may send it again.
 */
import type { Http2Session, ServerHttp2Stream } from 'node:http2'

/** One after the other. With one, a client that thinks for a moment about its last answer would be overlooked. */
const QUIET_PINGS = 3

export class Farewells {
  readonly #said = new WeakSet<Http2Session>()
  /** By connection, what its requests wait for. */
  readonly #held = new Map<Http2Session, Array<() => void>>()
  readonly #answers: (session: Http2Session) => number
  readonly #patience: number

  /**
   * @param answers how many are under way on a connection
   * @param patience milliseconds until a client is told, whatever comes
   */
  constructor (answers: (session: Http2Session) => number, patience: number) {
    this.#answers = answers
    this.#patience = patience
  }

  /** From now on what comes on the connection is held; `then` is called when its client has been told. Idempotent. */
  say (session: Http2Session, then?: () => void): void {
    if (this.#said.has(session)) return
    this.#said.add(session)
    const held: Array<() => void> = []
    this.#held.set(session, held)
    const tell = (): void => {
      if (!this.#held.delete(session)) return
      clearTimeout(late)
      if (!session.destroyed) session.goaway()
      for (const serve of held) serve()
      then?.()
    }
    const late = setTimeout(tell, this.#patience).unref()
    let [came, open, quiet] = [-1, -1, -1]
    const look = (): void => {
      const [cameNow, openNow] = [held.length, this.#answers(session)]
      quiet = came === cameNow && open === openNow ? quiet + 1 : 0
      came = cameNow
      open = openNow
      if (quiet === QUIET_PINGS || session.destroyed) tell()
      else session.ping(next)
    }
    // Not within what Node is reading, where a GOAWAY loses requests and spoils its memory.
    const next = (unanswered?: Error | null): void => {
      if (!unanswered) setImmediate(look) // else the patience ends it
    }
    next()
  }

  /** Whether the request waits until its client has been told; it is served then, unless it has gone. */
  holds (stream: ServerHttp2Stream, serve: () => void): boolean {
    const held = stream.session === undefined ? undefined : this.#held.get(stream.session)
    held?.push(() => { if (!stream.destroyed) serve() })
    return held !== undefined
  }
}
