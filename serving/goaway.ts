/**
 * Moves HTTP/2 clients to another connection without losing requests in transit.
 * By the protocol, a server first sends a GOAWAY with the highest stream number. But Node accepts no new streams after
 * any GOAWAY, and drops them silently. So the GOAWAY is sent when nothing is in transit: new requests are held until
 * the client has answered several pings between which no request arrived and no response ended. Then the held requests
 * are served right after the GOAWAY. A later request is beyond the GOAWAY's last stream, so the client knows that it
 * was not processed and may retry it.
 */
import type { Http2Session, ServerHttp2Stream } from 'node:http2'

/** Consecutive quiet pings. With one, a client that pauses after a response would be missed. */
const QUIET_PINGS = 3

export class GracefulGoaway {
  readonly #sent = new WeakSet<Http2Session>()
  /** Held requests by connection. */
  readonly #held = new Map<Http2Session, Array<() => void>>()
  readonly #answers: (session: Http2Session) => number
  readonly #patience: number

  /**
   * @param answers number of responses in progress on a connection
   * @param patience milliseconds after which GOAWAY is sent in any case
   */
  constructor (answers: (session: Http2Session) => number, patience: number) {
    this.#answers = answers
    this.#patience = patience
  }

  /** Holds new requests from now on; calls `then` after the GOAWAY. Idempotent. */
  send (session: Http2Session, then?: () => void): void {
    if (this.#sent.has(session)) return
    this.#sent.add(session)
    const held: Array<() => void> = []
    this.#held.set(session, held)
    const sendGoaway = (): void => {
      if (!this.#held.delete(session)) return
      clearTimeout(late)
      if (!session.destroyed) session.goaway()
      for (const serve of held) serve()
      then?.()
    }
    const late = setTimeout(sendGoaway, this.#patience).unref()
    let [arrived, open, quiet] = [-1, -1, -1]
    const check = (): void => {
      const [arrivedNow, openNow] = [held.length, this.#answers(session)]
      quiet = arrived === arrivedNow && open === openNow ? quiet + 1 : 0
      arrived = arrivedNow
      open = openNow
      if (quiet === QUIET_PINGS || session.destroyed) sendGoaway()
      else session.ping(next)
    }
    // Not while Node processes input: a GOAWAY then loses requests and corrupts memory.
    const next = (unanswered?: Error | null): void => {
      if (!unanswered) setImmediate(check) // otherwise the timeout sends it
    }
    next()
  }

  /** True if the request is held; it is served after the GOAWAY, unless its stream was closed. */
  holds (stream: ServerHttp2Stream, serve: () => void): boolean {
    const held = stream.session === undefined ? undefined : this.#held.get(stream.session)
    held?.push(() => { if (!stream.destroyed) serve() })
    return held !== undefined
  }
}
