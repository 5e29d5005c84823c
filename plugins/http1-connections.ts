/**
 * Connections of HTTP/1.1 to the server of a host: pipelined requests that Node would refuse for coming too early, and
 * the interim answer to `Expect: 100-continue`, which it would send amid another answer (`serving/wire/pipelines.ts`). The launcher's
 * own listener does the same for its connections, from their beginning.
 *
 * A host that listens on `localhost` has a second server that nobody is told of: it is known by the first request that comes
 * through it. The hook stands before request info, since requests that are refused there can be pipelined too.
 */
import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import fp from 'fastify-plugin'
import { continueInTurn, isAnswering, readAsStream } from '../serving/wire/pipelines.js'
import { serveUpgrade } from '../serving/wire/upgrades.js'
import { MOST_BODY_BYTES } from '../schemas/limits.js'

/** Where the server's paths begin, kept on each HTTP server that they are on: several may be in one host. */
const PREFIXES = Symbol('prefixes of the API')
interface Served extends EventEmitter { [PREFIXES]?: Set<string> }

const KNOWN = Symbol('known connection')
interface Connection extends Socket { [KNOWN]?: true, readonly server?: Served }

const isBelow = (prefix: string, url: string): boolean => url.startsWith(prefix) && (prefix === '' || url.length === prefix.length || url[prefix.length] === '/' || url[prefix.length] === '?')

/** For as long as there is the HTTP server: the listeners hold nothing else. Where the host answers expectations itself it goes on doing so. */
function attach (server: Served, prefix: string): void {
  const known = server[PREFIXES]
  if (known !== undefined) {
    known.add(prefix)
    return
  }
  const prefixes = server[PREFIXES] = new Set([prefix])
  server.on('secureConnection', (socket: TLSSocket) => { if (socket.alpnProtocol !== 'h2') readAsStream(socket) })
  if (server.listenerCount('upgrade') === 0) {
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      if (server.listenerCount('upgrade') > 1) return // the host has connections of its own to hand over
      serveUpgrade(request, socket, head, isAnswering(socket), (request, response) => { server.emit('request', request, response) })
    })
  }
  if (server.listenerCount('checkContinue') > 0) return
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (server.listenerCount('checkContinue') > 1) return
    const { url = '' } = request
    let mostBytes = Infinity
    for (const one of prefixes) if (isBelow(one, url)) mostBytes = MOST_BODY_BYTES
    continueInTurn(request, response, mostBytes)
    server.emit('request', request, response)
  })
}

export default fp(async fastify => {
  const { prefix } = fastify
  attach(fastify.server, prefix)
  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    if (!('stream' in raw)) {
      const socket: Connection = raw.socket
      if (socket[KNOWN] === undefined && socket instanceof Socket) {
        socket[KNOWN] = true
        readAsStream(socket) // which looks whether it is one of TLS
        if (socket.server !== undefined) attach(socket.server, prefix)
      }
    }
    done()
  })
}, { name: 'orch/http1-connections', fastify: '5.x' })
