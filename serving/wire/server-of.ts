import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

/**
 * The HTTP server of a connection. Fastify keeps the second server of `localhost` to itself, and Node has no documented
 * way from a connection to its server. No such way in Node 26.
 * @see https://github.com/nodejs/node/blob/v26.x/lib/_http_server.js, `socket.server` in `connectionListenerInternal`
 */
export const serverOf = (socket: Socket & { readonly server?: EventEmitter }): EventEmitter | undefined => socket.server
