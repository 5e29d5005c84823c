/**
 * What HTTP/1.1 demands of the header `Host`, of which Node looks at nothing on a server that speaks HTTP/2 too, and nowhere at
 * a second one: of two it keeps the first, and whoever stands before the server may go by the other.
 */
import type { IncomingMessage } from 'node:http'
import { StatusError } from '../schemas/status.js'

const HOST = 'host'
/** What may stand in an authority, as the convention's server has it. */
const AUTHORITY = /^[\w!$%&'()*+,\-.:;=[\]~]*$/

const refused = (message: string): StatusError => new StatusError('BadRequest', message, { headers: { connection: 'close' } })

/** What is wrong with it in a request of HTTP/1; 1.0 may have none. */
export function hostFault ({ headers: { host }, rawHeaders, httpVersionMinor }: IncomingMessage): StatusError | undefined {
  if (host === undefined) return httpVersionMinor === 0 ? undefined : refused('the request has no Host header')
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string // there are pairs
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts++
  }
  return hosts > 1 ? refused('the request has more than one Host header') : AUTHORITY.test(host) ? undefined : refused('the Host header is not valid')
}
