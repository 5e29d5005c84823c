/**
 * One request to a server that is found anew for each, passed on as a stream in both directions: nothing is held of a body
 * but what its connection holds, and an upgrade hands over the connection itself. Unlike calls of `http-client.ts` it may
 * last for ever and be answered with anything; redirects are answers too. Each has a connection of its own, so that what one
 * request leaves behind on it cannot reach the next.
 */
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { ClientError, classify } from './errors.js'
import { identityCheck } from './peer-identity.js'

export interface OutgoingRequest {
  readonly method: string
  readonly scheme: 'http' | 'https'
  /** A name or an address, without brackets. */
  readonly host: string
  /** Where the host is found, when that was looked up before. Default the host. */
  readonly address?: string | undefined
  readonly port: number
  /** With its query, percent-encoded. */
  readonly path: string
  /** Names and values in turn, as in `rawHeaders`. Host, the length of a body and an upgrade are among them. */
  readonly headers: readonly string[]
  /** Undefined where there is none. */
  readonly body?: NodeJS.ReadableStream | undefined
  /** For https: what we show, and what the server is verified by. */
  readonly secureContext?: SecureContext | undefined
  /** Whether the certificate of the server is verified. */
  readonly verify: boolean
  /** Whether its headers ask for another protocol. */
  readonly upgrade: boolean
  /** Milliseconds until there is a connection, TLS included. */
  readonly connectTimeout: number
  /** Milliseconds from then to the head of the answer. Default no bound. */
  readonly answerTimeout?: number | undefined
  /** Names caller and peer in errors. */
  readonly call: string
}

export interface Incoming {
  readonly answer: IncomingMessage
  /** Of an answer that switches protocols: the connection, from which `head` has been read already. */
  readonly upgraded?: { readonly socket: Socket, readonly head: Buffer } | undefined
}

let unverified: SecureContext | undefined
/** For servers that nothing is verified of: the authorities of the platform, which take long to load, are of no use there. */
const withoutAuthorities = (): SecureContext => unverified ??= createSecureContext({ ca: [] })

/** Milliseconds of silence before the system asks the peer whether it is still there. */
const KEEP_ALIVE = 30_000
/** Bytes of all headers of an answer. */
const MAX_HEADER_BYTES = 64 * 1024

/**
 * Resolves with the head of the answer.
 * @param begun is told of the request, to end it with `destroy`, whose error is then what this rejects with
 * @throws ClientError 'Unreachable', 'Timeout', 'BadAnswer', 'TooLarge'
 */
export function send (outgoing: OutgoingRequest, begun?: (request: ClientRequest) => void): Promise<Incoming> {
  const { method, scheme, host, address = host, port, path, headers, body, secureContext, verify, upgrade, call } = outgoing
  return new Promise((resolve, reject) => {
    const request = (scheme === 'https' ? requestHttps : requestHttp)({
      method,
      host: address,
      port,
      path,
      headers: headers as string[], // it is only read
      agent: false,
      setHost: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      ...(scheme === 'https' ? { rejectUnauthorized: verify, ...(verify ? { checkServerIdentity: identityCheck() } : {}), servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['http/1.1'], ...(secureContext !== undefined ? { secureContext } : verify ? {} : { secureContext: withoutAuthorities() }) } : {})
    })
    let timer = setTimeout(() => { request.destroy(new ClientError('Timeout', `${call}: no connection in time`)) }, outgoing.connectTimeout)
    const settle = (): void => { clearTimeout(timer) }
    request.on('error', error => {
      settle()
      reject(classify(error, call))
    })
    request.once('socket', socket => {
      socket.setKeepAlive(true, KEEP_ALIVE)
      socket.setNoDelay(true)
      socket.once(scheme === 'https' ? 'secureConnect' : 'connect', () => {
        settle()
        const { answerTimeout } = outgoing
        if (answerTimeout !== undefined) timer = setTimeout(() => { request.destroy(new ClientError('Timeout', `${call}: no answer in time`)) }, answerTimeout)
      })
    })
    request.once('response', answer => {
      settle()
      answer.on('error', () => {}) // whoever reads it is told
      resolve({ answer })
    })
    if (upgrade) {
      request.once('upgrade', (answer, socket: Socket, head) => {
        settle()
        socket.on('error', () => {}) // so is this
        resolve({ answer, upgraded: { socket, head } })
      })
    }
    request.once('close', () => {
      settle()
      reject(new ClientError('Unreachable', `${call}: connection closed by the peer`)) // of no effect behind an answer
    })
    begun?.(request)
    if (body === undefined) request.end()
    else {
      body.on('error', (error: Error) => { request.destroy(error) })
      // An answer may come before its end; what nobody takes any more would hold up what follows on its connection.
      request.once('close', () => { body.unpipe(request).resume() })
      body.pipe(request)
    }
  })
}
