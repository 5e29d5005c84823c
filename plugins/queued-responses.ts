/**
 * Answers of HTTP/1.1 that wait behind another one on their connection. Node begins to handle a pipelined request at once
 * but gives its answer the connection only when those before it are sent, and until then the answer hears nothing of
 * it: when the connection closes it is forgotten without a `close`, and `destroy` waits for a turn that may never come.
 * Here such an answer ends with its connection, as one that is being sent does, for whoever listens to it.
 *
 * While many bytes wait Node stops reading from the connection, and what is not read does not say that its client has
 * gone. A connection that is not read and takes nothing either is ended after a while.
 */
import { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { sentBytes } from './sent-bytes.js'

const QUEUED = Symbol('answers that wait for their turn')
interface Connection extends Socket { [QUEUED]?: Set<ServerResponse> }

/** Milliseconds between two checks of the connections where answers wait. */
const CHECK_INTERVAL = 1000
/** Checks at which a connection has been neither read nor written to, before it is ended. */
const MOST_IDLE_CHECKS = 15
/** Connections on which answers have waited, with the bytes they had been sent at the last check. */
const tracked = new Map<Connection, { sent: number, idleChecks: number }>()
let checking: NodeJS.Timeout | undefined

function check (): void {
  for (const [connection, state] of tracked) {
    const sent = sentBytes(connection)
    state.idleChecks = connection.isPaused() && (connection[QUEUED]?.size ?? 0) > 0 && sent === state.sent ? state.idleChecks + 1 : 0
    state.sent = sent
    if (state.idleChecks >= MOST_IDLE_CHECKS) connection.destroy()
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

/** Costs nothing for an answer that is being sent. Idempotent. */
export function endWithConnection (response: ServerResponse): void {
  if (response.socket !== null || response.destroyed || !(response instanceof ServerResponse)) return
  const connection: Connection = response.req.socket
  if (!(connection instanceof Socket)) return
  let queued = connection[QUEUED]
  if (queued === undefined) {
    queued = connection[QUEUED] = new Set()
    const all = queued
    const end = (): void => { for (const one of all) if (one.socket === null && !one.destroyed) close(one) }
    if (connection.destroyed) process.nextTick(end)
    else {
      connection.once('close', end)
      track(connection)
    }
  }
  if (queued.has(response)) return
  queued.add(response)
  response.destroy = destroy
  const all = queued
  response.once('close', () => { all.delete(response) })
}

function close (response: ServerResponse): void {
  response.destroyed = true
  response.emit('close')
}

/** Nothing can follow on a connection in the place of this answer. */
function destroy (this: ServerResponse, error?: Error): ServerResponse {
  if (this.destroyed) return this
  if (this.socket === null) {
    this.req.socket.destroy(error)
    return this
  }
  return ServerResponse.prototype.destroy.call(this, error) as ServerResponse // its type does not say that it is itself
}
