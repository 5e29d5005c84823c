import { Server } from 'node:net'

/**
 * Closes the listening socket but no connections. Since Node 19, `close` of an HTTP server also closes idle connections
 * (https://github.com/nodejs/node/issues/53939), on which a client may be about to send. Callers must call the server's `close` later.
 */
export function stopAccepting (server: Server): void {
  if (server.listening) Server.prototype.close.call(server)
}
