/**
 * Validates the Host header of HTTP/1. Node does not check it on servers that also speak HTTP/2, and silently drops
 * duplicates, although a proxy in front may have used another one than Node keeps.
 */
import type { IncomingMessage } from 'node:http'
import { StatusError } from '../../schemas/status.js'

const HOST = 'host'
/** Characters allowed in an authority, as upstream. */
const AUTHORITY = /^[\w!$%&'()*+,\-.:;=[\]~]*$/

const refused = (message: string): StatusError =>
  new StatusError('BadRequest', message, { headers: { connection: 'close' } })

/** Returns the error for an invalid Host header. HTTP/1.0 requests may omit it. */
export function hostFault (
  { headers: { host }, rawHeaders, httpVersionMinor }: IncomingMessage
): StatusError | undefined {
  if (host === undefined) return httpVersionMinor === 0 ? undefined : refused('the request has no Host header')
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string // names and values alternate
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts++
  }
  return hosts > 1
    ? refused('the request has more than one Host header')
    : AUTHORITY.test(host)
      ? undefined
      : refused('the Host header is not valid')
}
