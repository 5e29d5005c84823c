/** Describes which credentials a rejected request tried to use. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/** In upstream's words; never contains the credentials. */
export function attempted (
  { authorization = '' }: IncomingHttpHeaders, socket: Socket | TLSSocket, query: URLSearchParams
): string {
  const [scheme = '', ...rest] = authorization.trim().split(' ')
  const methods = [
    isBasic(authorization) ? 'basic' : '',
    scheme.toLowerCase() === 'bearer' && rest.length > 0 ? 'bearer' : '',
    (query.get('access_token') ?? '').trim() !== '' ? 'access_token' : '',
    'getPeerX509Certificate' in socket && socket.getPeerX509Certificate() !== undefined ? 'x509' : ''
  ].filter(Boolean)
  return methods.length === 0
    ? 'Authentication failed, no credentials provided'
    : `Authentication failed, attempted: ${methods.join(', ')}`
}

const isBasic = (authorization: string): boolean => /^basic /i.test(authorization) &&
  Buffer.from(authorization.slice(6), 'base64').includes(':')
