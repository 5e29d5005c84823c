/** What the listener records on the socket of an HTTP/1 connection about its responses. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Active responses of an HTTP/1 connection, stored on its socket. */
export const ACTIVE = Symbol('answers under way')
/** The latest active response. */
export const LATEST = Symbol('latest answer')
/** When the last response ended. */
export const LAST_ENDED_AT = Symbol('time of the last answer')

export interface Counted extends Socket {
  [ACTIVE]?: number, [LATEST]?: ServerResponse | undefined, [LAST_ENDED_AT]?: number
}
