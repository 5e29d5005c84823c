/**
 * Opens a tunnel through a proxy with CONNECT. undici's proxy agent is not used: it waits minutes for the CONNECT
 * response and keeps using the connection of a rejected one.
 */
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { ClientError, classify } from './errors.js'

export interface HttpProxy {
  /** For errors. */
  readonly name: string
  readonly secure: boolean
  /** Host and port, or a socket. */
  readonly place: { readonly host: string, readonly port: number } | {
    readonly host?: undefined, readonly socketPath: string
  }
  /** Client certificate and authorities for https. Default none, and the system's. */
  readonly secureContext?: SecureContext
  /** Value of the Proxy-Authorization header. */
  readonly authorization?: string
}

export interface ConnectOptions {
  /** `host:port` */
  readonly target: string
  /** Names caller and peer in errors. */
  readonly call: string
  /** Milliseconds. */
  readonly timeout: number
  /** Called when the proxy is reached. */
  readonly reached?: () => void
  /** Servers of HTTP/2 send bytes before they are asked. Default false: such bytes are an error of the proxy. */
  readonly serverFirst?: boolean
}

/** A host name without the brackets of IPv6 addresses. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')

/** The proxy at a URL, which may have credentials. */
export function proxyAt ({ protocol, host, hostname, port, username, password }: URL): HttpProxy {
  const secure = protocol === 'https:'
  return {
    name: host,
    secure,
    place: { host: withoutBrackets(hostname), port: port === '' ? (secure ? 443 : 80) : Number(port) },
    ...(username === ''
      ? {}
      : {
          authorization:
        `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`
        })
  }
}

/** `host:port`, with the default port if none is given. */
export const authorityOf = ({ protocol, hostname, port }: URL): string =>
  `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`

/** @throws ClientError 'Unreachable', 'Timeout', 'BadAnswer' */
export function openTunnel (
  { name, secure, place, secureContext, authorization }: HttpProxy,
  { target, call, timeout, reached, serverFirst = false }: ConnectOptions
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const through = `${call}: through the proxy ${name}`
    const request = (secure ? requestHttps : requestHttp)({
      ...place,
      method: 'CONNECT',
      path: target,
      agent: false,
      // Node would verify the name in the Host header
      ...(secure ? { servername: isIP(place.host ?? '') === 0 ? place.host ?? '' : '' } : {}),
      ...(secureContext === undefined ? {} : { secureContext }),
      headers: { host: target, ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }) }
    })
    const timer = setTimeout(() => { fail(new ClientError('Timeout', `${through}: no tunnel in time`)) }, timeout)
    const fail = (error: ClientError): void => {
      clearTimeout(timer)
      reject(error)
      request.destroy()
    }
    request.on('error', error => { fail(classify(error, through)) })
    if (reached !== undefined) {
      request.once('socket', socket => { socket.once(secure ? 'secureConnect' : 'connect', reached) })
    }
    request.once('response', ({ statusCode }) => {
      fail(new ClientError('Unreachable', `${through}: it answered CONNECT with ${String(statusCode)}`))
    })
    request.once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      clearTimeout(timer)
      if (statusCode >= 200 && statusCode < 300 && (serverFirst || head.length === 0)) {
        if (head.length > 0) socket.unshift(head)
        return resolve(socket)
      }
      socket.on('error', () => {}).destroy()
      reject(statusCode >= 200 && statusCode < 300
        ? new ClientError('BadAnswer', `${through}: it sent bytes before the request`)
        : new ClientError('Unreachable', `${through}: it answered CONNECT with ${statusCode}`))
    })
    request.end()
  })
}
