/** Headers of answers. */
import type { FastifyReply } from 'fastify'
import { warningHeaders } from '../schemas/warnings.js'
import type { RequestContext, ServedRequest } from './request-context.js'
import { viewOf } from './view.js'

/** Smaller answers are sent whole and uncompressed. */
export const LARGE_BYTES = 128 * 1024

/** Sets Warning headers (RFC 7234, code 299), in place of earlier ones. */
export function warn (
  reply: FastifyReply, warnings: readonly string[], context: Pick<RequestContext, 'naming'>
): void {
  if (warnings.length === 0) return
  const view = viewOf(context)
  reply.header('warning', warningHeaders(warnings.map(text => view.words(text))))
}

export function acceptsGzip (request: ServedRequest): boolean {
  const header = request.headers['accept-encoding']
  if (header === undefined || !request.server.orchSettings.featureGates.enabled('APIResponseCompression')) return false
  return String(header).split(',').some(part => {
    const [name = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
    return (name === 'gzip' || name === '*') && !parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** The body is compressed, because the client accepts that. */
export function gzipHeads (reply: FastifyReply): void {
  const vary = reply.getHeader('vary')
  const varies = vary === undefined ? 'accept-encoding' : `${String(vary)}, accept-encoding`
  reply.headers({ 'content-encoding': 'gzip', vary: varies })
}
