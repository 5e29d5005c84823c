/**
 * Opens a tunnel through a proxy with CONNECT. undici's proxy agent is not used: it waits minutes for the CONNECT response and keeps using
 * the connection of a rejected one.
 */
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { ClientError, classify } from './errors.js'

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')

/** `host:port`, with the default port if none is given. */
export const authorityOf = ({ protocol, hostname, port }: URL): string => `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`

/**
 * Connects to `target` through `proxy`.
 * @param call names caller and peer in errors
 * @param timeout milliseconds
 * @throws ClientError 'Unreachable', 'Timeout', 'BadAnswer'
 */
export function openTunnel (proxy: URL, target: string, call: string, timeout: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const secure = proxy.protocol === 'https:'
    const { username, password } = proxy
    const through = `${call}: through the proxy ${proxy.host}`
    const request = (secure ? requestHttps : requestHttp)({
      host: bare(proxy.hostname),
      port: proxy.port === '' ? (secure ? 443 : 80) : Number(proxy.port),
      method: 'CONNECT',
      path: target,
      agent: false,
      headers: {
        host: target,
        ...(username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}` })
      }
    })
    const timer = setTimeout(() => { fail(new ClientError('Timeout', `${through}: no tunnel in time`)) }, timeout)
    const fail = (error: ClientError): void => {
      clearTimeout(timer)
      reject(error)
      request.destroy()
    }
    request.on('error', error => { fail(classify(error, through)) })
    request.once('response', ({ statusCode }) => { fail(new ClientError('Unreachable', `${through}: it answered CONNECT with ${String(statusCode)}`)) })
    request.once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      clearTimeout(timer)
      if (statusCode >= 200 && statusCode < 300 && head.length === 0) return resolve(socket)
      socket.on('error', () => {}).destroy()
      reject(statusCode >= 200 && statusCode < 300
        ? new ClientError('BadAnswer', `${through}: it sent bytes before the request`)
        : new ClientError('Unreachable', `${through}: it answered CONNECT with ${statusCode}`))
    })
    request.end()
  })
}
