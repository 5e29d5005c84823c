/**
 * A single streamed request to an arbitrary server. Bodies are not buffered, and an upgrade returns the connection.
 * Unlike `http-client.ts`, requests have no overall deadline, and any response is returned, redirects included. Each
 * request has its own connection, so that leftovers of one cannot reach another, unless its caller keeps connections in
 * an agent.
 */
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as requestHttps, type Agent } from 'node:https'
import { isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls, createSecureContext, type ConnectionOptions, type SecureContext } from 'node:tls'
import { ClientError, classify } from './errors.js'
import { underTls, type Tunnel } from './egress/tunnel.js'
import { quote } from '../schemas/quote.js'
import { identityCheck, isWeaklySigned } from './peer-identity.js'

export interface OutgoingRequest {
  readonly method: string
  readonly scheme: 'http' | 'https'
  /** A name or an address, without brackets. */
  readonly host: string
  /** The resolved address. Default the host. */
  readonly address?: string | undefined
  readonly port: number
  /** With its query, percent-encoded. */
  readonly path: string
  /** Alternating names and values, as in `rawHeaders`, including Host, framing and upgrade headers. */
  readonly headers: readonly string[]
  /** Undefined without a body. */
  readonly body?: NodeJS.ReadableStream | undefined
  /** For https: client certificate and CA bundle. */
  readonly secureContext?: SecureContext | undefined
  /** Verifies the server's certificate. */
  readonly verify: boolean
  /** The headers request a protocol upgrade. */
  readonly upgrade: boolean
  /** Milliseconds to connect, including TLS. */
  readonly connectTimeout: number
  /** Milliseconds from the connection to the response head. Default unlimited. */
  readonly answerTimeout?: number | undefined
  /** Names caller and peer in errors. */
  readonly call: string
  /** Called if the server's certificate has no subject alternative name. */
  readonly missingName?: (() => void) | undefined
  /** Called if the server's certificate chain is signed with SHA-1. */
  readonly weakSignature?: (() => void) | undefined
  /** For https: keeps connections to one server with one secure context. Default a new connection. */
  readonly agent?: Agent | undefined
  /** Makes the connection, in place of the agent. Default direct. */
  readonly tunnel?: Tunnel | undefined
}

export interface Incoming {
  readonly answer: IncomingMessage
  /** Set if protocols were switched: the connection, and the bytes already read from it. */
  readonly upgraded?: { readonly socket: Socket, readonly head: Buffer } | undefined
}

/** Node undoes chunks alone: what is also compressed would be passed on as it is. */
export const isChunked = (transferCoding: string): boolean => transferCoding.trim().toLowerCase() === 'chunked'

let unverified: SecureContext | undefined
/** For unverified servers: skips loading the system roots, which is slow. */
const withoutAuthorities = (): SecureContext => unverified ??= createSecureContext({ ca: [] })

/** Milliseconds of silence before TCP keep-alive probes. */
const KEEP_ALIVE = 30_000
/** Maximum bytes of response headers. */
const MAX_HEADER_BYTES = 64 * 1024

function tlsOptions ({ host, verify, secureContext, missingName }: OutgoingRequest): Pick<
  ConnectionOptions, 'rejectUnauthorized' | 'checkServerIdentity' | 'servername' | 'ALPNProtocols' | 'secureContext'
> {
  return {
    rejectUnauthorized: verify,
    ...(verify ? { checkServerIdentity: identityCheck(missingName) } : {}),
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    ...(secureContext !== undefined ? { secureContext } : verify ? {} : { secureContext: withoutAuthorities() })
  }
}

type Created = (error: Error | null, stream: Duplex) => void

const connectThrough = (
  tunnel: Tunnel, { host, address = host, port, connectTimeout, call }: OutgoingRequest,
  secure: ConnectionOptions | undefined
) =>
  (_options: unknown, created: Created): undefined => {
    tunnel({ host: address, port, timeout: connectTimeout, call }).then(stream => {
    // The name is verified, though the connection is to the proxy.
      created(null, secure === undefined ? stream : connectTls({ ...secure, host, socket: underTls(stream) }))
    }, (error: Error) => { (created as (error: Error) => void)(error) }) // the type requires a stream
  }

/**
 * Resolves with the response head.
 * @param begun receives the request; destroying it with an error rejects with that error
 * @throws ClientError 'Unreachable', 'Timeout', 'BadAnswer', 'TooLarge'
 */
export function send (outgoing: OutgoingRequest, begun?: (request: ClientRequest) => void): Promise<Incoming> {
  const { method, scheme, host, address = host, port, path, headers, body, upgrade, call, tunnel } = outgoing
  const secure = scheme === 'https' ? tlsOptions(outgoing) : undefined
  return new Promise((resolve, reject) => {
    const request = (scheme === 'https' ? requestHttps : requestHttp)({
      method,
      host: address,
      port,
      path,
      headers: headers as string[], // not modified
      ...(tunnel === undefined
        ? { agent: outgoing.agent ?? false }
        : { createConnection: connectThrough(tunnel, outgoing, secure) }),
      setHost: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      ...secure
    })
    const endAfter = (milliseconds: number, what: string): NodeJS.Timeout => setTimeout(() => {
      request.destroy(new ClientError('Timeout', `${call}: no ${what} in time`))
    }, milliseconds)
    let timer = endAfter(outgoing.connectTimeout, 'connection')
    const settle = (): void => { clearTimeout(timer) }
    request.on('error', error => {
      settle()
      if (isWeaklySigned(error)) outgoing.weakSignature?.()
      reject(classify(error, call))
    })
    request.once('socket', socket => {
      socket.setKeepAlive(true, KEEP_ALIVE)
      socket.setNoDelay(true)
      const { answerTimeout } = outgoing
      const connected = (): void => {
        settle()
        if (answerTimeout !== undefined) timer = endAfter(answerTimeout, 'answer')
      }
      if (request.reusedSocket || (tunnel !== undefined && secure === undefined)) connected()
      else socket.once(secure === undefined ? 'connect' : 'secureConnect', connected)
    })
    request.once('response', answer => {
      settle()
      answer.on('error', () => {}) // its reader handles the error
      const { 'transfer-encoding': coding = 'chunked' } = answer.headers
      if (!isChunked(coding)) {
        request.destroy()
        return reject(new ClientError('BadAnswer', `${call}: the answer has the transfer coding ${quote(coding)}`))
      }
      resolve({ answer })
    })
    if (upgrade) {
      request.once('upgrade', (answer, socket: Socket, head) => {
        settle()
        socket.on('error', () => {}) // its reader handles the error
        resolve({ answer, upgraded: { socket, head } })
      })
    }
    request.once('close', () => {
      settle()
      reject(new ClientError('Unreachable', `${call}: connection closed by the peer`)) // no effect after a response
    })
    begun?.(request)
    if (body === undefined) request.end()
    else sendBody(request, body)
  })
}

function sendBody (request: ClientRequest, body: NonNullable<OutgoingRequest['body']>): void {
  body.on('error', (error: Error) => { request.destroy(error) })
  // The response may precede the end of the body; drain the rest so that the client can reuse its connection.
  request.once('close', () => { body.unpipe(request).resume() })
  body.pipe(request)
}
