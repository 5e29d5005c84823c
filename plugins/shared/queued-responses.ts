/**
 * Ends pipelined HTTP/1.1 responses with their connection (`serving/wire/queued-responses.ts`). Node assigns such a
 * response its socket only after the earlier responses are sent. Node stops reading a connection with many unsent
 * bytes, and so does not notice that the client disconnected. Connections that neither read nor write for a while are
 * destroyed.
 */
import { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { closeQueued, destroyWithConnection } from '../../serving/wire/queued-responses.js'
import { sentBytes } from './sent-bytes.js'

const QUEUED = Symbol('answers that wait for their turn')
interface Connection extends Socket { [QUEUED]?: Set<ServerResponse> }

/** Milliseconds between checks of connections with queued responses. */
const CHECK_INTERVAL = 1000
/** Consecutive idle checks after which a connection is destroyed. */
const MAX_IDLE_CHECKS = 15
/** Connections that have queued responses, with the bytes sent at the last check. */
const tracked = new Map<Connection, { sent: number, idleChecks: number }>()
let checking: NodeJS.Timeout | undefined

function check (): void {
  for (const [connection, state] of tracked) {
    const sent = sentBytes(connection)
    state.idleChecks = connection.isPaused() && (connection[QUEUED]?.size ?? 0) > 0 && sent === state.sent
      ? state.idleChecks + 1
      : 0
    state.sent = sent
    if (state.idleChecks >= MAX_IDLE_CHECKS) connection.destroy()
  }
}

function track (connection: Connection): void {
  tracked.set(connection, { sent: 0, idleChecks: 0 })
  checking ??= setInterval(check, CHECK_INTERVAL).unref()
  connection.once('close', () => {
    tracked.delete(connection)
    if (tracked.size > 0) return
    clearInterval(checking)
    checking = undefined
  })
}

/** For a response whose connection is open. Free if it already has its socket. Idempotent. */
export function closeWithConnection (response: ServerResponse): void {
  if (response.socket !== null || response.destroyed || !(response instanceof ServerResponse)) return
  const connection: Connection = response.req.socket
  if (!(connection instanceof Socket)) return
  let queued = connection[QUEUED]
  if (queued === undefined) {
    queued = connection[QUEUED] = new Set()
    const all = queued
    connection.once('close', () => { for (const waiting of all) closeQueued(waiting) })
    track(connection)
  }
  if (queued.has(response)) return
  queued.add(response)
  destroyWithConnection(response)
  const all = queued
  response.once('close', () => { all.delete(response) })
}
