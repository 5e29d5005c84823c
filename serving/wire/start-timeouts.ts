import type { EventEmitter } from 'node:events'

/**
 * Enforces `headersTimeout` and `requestTimeout` on a server that gets its connections from elsewhere. Node starts its
 * timer when the server begins to listen, which this one never does. No other way in Node 26.
 * @see https://github.com/nodejs/node/pull/48611
 */
export function startTimeouts (server: EventEmitter): void { server.emit('listening') }
