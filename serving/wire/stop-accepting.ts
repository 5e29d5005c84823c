import { Server } from 'node:net'

/**
 * Closes the listening socket and leaves every connection as it is. From Node 19 on `close` of a server of HTTP ends idle connections too
 * (https://github.com/nodejs/node/issues/53939), on which a client may be about to send.
 * Whoever calls this calls the server's own `close` later.
 */
export function stopAccepting (server: Server): void {
  if (server.listening) Server.prototype.close.call(server)
}
