import { Server } from 'node:net'

/**
 * Closes the listening socket but no connections. Since Node 19, `close` of an HTTP server also closes idle
 * connections, on which a client may be about to send. Callers must call the server's `close` later. No fix in Node 26.
 * @see https://github.com/nodejs/node/issues/53939
 */
export function stopAccepting (server: Server): void {
  if (server.listening) Server.prototype.close.call(server)
}
