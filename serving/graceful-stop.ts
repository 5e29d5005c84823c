/**
 * Ends a listener without losing requests: it accepts no connections any more, tells clients, serves what is in
 * transit, and closes each connection after its last response.
 */
import type { Http2SecureServer } from 'node:http2'
import type { Connections } from './connections.js'
import type { Dispatcher } from './dispatcher.js'
import type { GracefulGoaway } from './goaway.js'
import type { Sessions } from './sessions.js'
import { stopAccepting } from './wire/stop-accepting.js'

/** Milliseconds between the shutdown notice and closing idle connections, for requests in transit. */
const LINGER = 100
/**
 * Maximum repetitions of LINGER while requests arrive. HTTP/1 clients learn of the shutdown only from their next
 * response.
 */
const MAX_LINGERS = 20

export interface Stoppable {
  readonly server: Http2SecureServer
  readonly dispatcher: Dispatcher
  readonly sessions: Sessions
  readonly goaway: GracefulGoaway
  readonly connections: Connections
}

/** To be called once. */
export function stopGracefully ({ server, dispatcher, sessions, goaway, connections }: Stoppable): void {
  stopAccepting(server)
  dispatcher.mayGoaway = true
  for (const session of sessions) goaway.send(session)
  const end = (): void => {
    dispatcher.ending = true
    server.close()
    for (const session of sessions) session.close()
    connections.endIdle()
  }
  const linger = (seen: number, left: number): void => {
    setTimeout(() => {
      if ((dispatcher.arrivals === seen && !connections.areInUse()) || left === 0) end()
      else linger(dispatcher.arrivals, left - 1)
    }, LINGER).unref()
  }
  linger(dispatcher.arrivals, MAX_LINGERS)
}
