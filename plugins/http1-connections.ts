/**
 * Adapts HTTP/1.1 connections of a host's server: accepts pipelined requests that Node would reject, reads them at a
 * pace (`serving/wire/paced-reads.ts`), and delays the interim response to `Expect: 100-continue` until earlier
 * responses are sent (`serving/wire/pipelines.ts`). The launcher's own listener does this from the start of each
 * connection. A host listening on `localhost` has a second server without a Fastify event; it is detected on its first
 * request. Registered before request info, because rejected requests can be pipelined too.
 */
import type { EventEmitter } from 'node:events'
import { Server, type IncomingMessage, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { continueInTurn, currentResponse, readAsStream } from '../serving/wire/pipelines.js'
import { serverOf } from '../serving/wire/server-of.js'
import { serveUpgrade } from '../serving/wire/upgrades.js'
import { MAX_BODY_BYTES } from '../schemas/limits.js'
import { plugin } from './shared/plugin.js'

/** Mount prefixes, stored on each HTTP server: one host may mount several API servers. */
const PREFIXES = Symbol('prefixes of the API')
interface Served extends EventEmitter { [PREFIXES]?: Set<string> }

const KNOWN = Symbol('known connection')
interface Connection extends Socket { [KNOWN]?: true }

const isBelow = (prefix: string, url: string): boolean => url.startsWith(prefix) &&
  (prefix === '' || url.length === prefix.length || url[prefix.length] === '/' || url[prefix.length] === '?')

/** Attaches listeners once per HTTP server. A host that handles `checkContinue` or `upgrade` itself keeps doing so. */
function attach (server: Served, prefix: string): void {
  const attached = server[PREFIXES]
  if (attached !== undefined) {
    attached.add(prefix)
    return
  }
  const prefixes = server[PREFIXES] = new Set([prefix])
  if (server instanceof Server) server.on('connection', readAsStream) // elsewhere that is the connection below TLS
  server.on('secureConnection', (socket: TLSSocket) => { if (socket.alpnProtocol !== 'h2') readAsStream(socket) })
  if (server.listenerCount('upgrade') === 0) {
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      if (server.listenerCount('upgrade') > 1) return // the host handles upgrades itself
      serveUpgrade(request, { socket, head }, currentResponse(socket) !== undefined, (request, response) => {
        server.emit('request', request, response)
      })
    })
  }
  if (server.listenerCount('checkContinue') > 0) return
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (server.listenerCount('checkContinue') > 1) return
    const { url = '' } = request
    let mostBytes = Infinity
    for (const below of prefixes) if (isBelow(below, url)) mostBytes = MAX_BODY_BYTES
    continueInTurn(request, response, mostBytes)
    server.emit('request', request, response)
  })
}

export default plugin()(async fastify => {
  const { prefix } = fastify
  attach(fastify.server, prefix)
  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    if (!('stream' in raw)) {
      const socket: Connection = raw.socket
      if (socket[KNOWN] === undefined && socket instanceof Socket) {
        socket[KNOWN] = true
        // Node's parser cannot be stopped while it reads below an ordinary connection: those that follow are paced.
        if (socket instanceof TLSSocket) readAsStream(socket)
        const server = serverOf(socket)
        if (server !== undefined) attach(server, prefix)
      }
    }
    done()
  })
}, { name: 'orch/http1-connections', fastify: '5.x' })
