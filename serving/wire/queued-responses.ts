/**
 * Ends pipelined HTTP/1.1 responses that wait for their turn. Up to Node 22 such a response emits no `close` when its
 * connection closes, and `destroy` has no effect before its turn, which may never come.
 * @see https://github.com/nodejs/node/pull/62534, in 24.21 and 26.10: `closeQueued` is needless there,
 * `destroyWithConnection` is not
 */
import { ServerResponse } from 'node:http'

/** For a queued response whose connection has closed: emits `close`, as Node does for the current one. */
export function closeQueued (response: ServerResponse): void {
  if (response.socket !== null || response.destroyed) return
  response.destroyed = true
  response.emit('close')
}

/** Makes `destroy` of a queued response destroy its connection: responses cannot be skipped. */
export function destroyWithConnection (response: ServerResponse): void { response.destroy = destroy }

function destroy (this: ServerResponse, error?: Error): ServerResponse {
  if (this.destroyed) return this
  if (this.socket === null) {
    this.req.socket.destroy(error)
    return this
  }
  // the declared return type is the base class
  return ServerResponse.prototype.destroy.call(this, error) as ServerResponse
}
