/**
 * Says verb, group, version, resource, subresource, namespace and name, once per request, from the matched route and
 * its parameters. Authorization and routing use the same result, so they cannot disagree. Creates `request.orch`:
 * the hooks before it, those of a host among them, see none.
 */
import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { FastifyRequest } from 'fastify'
import { pathRequest, type RequestInfo } from '../../auth/request-info.js'
import { badRequest, StatusError } from '../../schemas/status.js'
import { auditIdOf } from '../shared/audit-id.js'
import { arrivals } from '../shared/client-names.js'
import { hostFault } from '../shared/host-header.js'
import { closeWithConnection } from '../shared/queued-responses.js'
import { resetAfterResponse } from '../shared/unread-bodies.js'
import { infoOfPath, RoutePattern, withSelectors, type Sent } from './paths.js'
import { Context } from './request-context.js'
import { plugin } from '../shared/plugin.js'

const CLOSE = { connection: 'close' }

/** Rejects a wrong HTTP version in the request line of HTTP/1. */
const unsupportedVersion = (major: number): StatusError => major < 1
  ? new StatusError('BadRequest', 'the request names no version of HTTP, or 0.9', { headers: CLOSE })
  : new StatusError('BadRequest', 'this connection speaks HTTP/1.1; HTTP/2 is agreed on with TLS', {
      code: 505, headers: CLOSE
    })

/** HTTP/2 responses, and HTTP/1.1 responses that wait behind others, do not report that they are closed. */
function isClosed (
  { raw }: FastifyRequest, response: ServerResponse & Partial<Pick<Http2ServerResponse, 'stream'>>
): boolean {
  return response.destroyed || (response.stream ?? raw.socket).destroyed
}

export interface RequestInfoOptions {
  /** Serve clients that use the public project's names. Default false. */
  readonly compatNames?: boolean | undefined
  /** Tell authorizers of selectors. Default false. */
  readonly selectors?: boolean
  /** Show the routes to a host's @fastify/swagger. Default false. */
  readonly inDocuments?: boolean | undefined
}

export default plugin<RequestInfoOptions>()(async (
  fastify, { compatNames = false, selectors = false, inDocuments = false }
) => {
  const mount = fastify.prefix
  const arrived = arrivals(compatNames)
  const { orchClock: clock, initialConfig: { routerOptions = {}, ...settings } } = fastify
  const isLenient = [settings, routerOptions]
    .some(options => 'useSemicolonDelimiter' in options && options.useSemicolonDelimiter === true)
  /** As the router reads it. */
  const startOfQuery = (url: string): number => isLenient ? url.search(/[?;]/) : url.indexOf('?')
  fastify.decorateRequest('orch')

  const patterns = new Map<string, RoutePattern>()
  fastify.addHook('onRoute', route => {
    patterns.set(route.url, new RoutePattern(route.url.slice(mount.length) || '/'))
    if (!inDocuments) route.schema = Object.assign({ hide: true }, route.schema)
  })
  const infoOf = ({ params, routeOptions: { url = '' } }: FastifyRequest, sent: Sent): RequestInfo =>
    patterns.get(url)?.infoOf(params as Record<string, string>, sent) ?? infoOfPath(sent) // none if no route matched

  fastify.addHook('onRequest', (request: FastifyRequest, reply, done) => {
    // The client disconnected while a hook of the host waited; the request's place would never be released.
    if (isClosed(request, reply.raw)) {
      reply.hijack() // nobody answers it
      return
    }
    closeWithConnection(reply.raw)
    resetAfterResponse(reply.raw)
    const url = request.raw.url ?? '/'
    const at = startOfQuery(url)
    const path = (at < 0 ? url : url.slice(0, at)).slice(mount.length)
    const { naming, search, ownPath } = arrived(path, at < 0 ? '' : url.slice(at + 1), request.headers)
    const auditId = auditIdOf(request.headers)
    const received = clock.wall()
    try {
      if (!('stream' in request.raw)) {
        if (request.raw.httpVersionMajor !== 1) throw unsupportedVersion(request.raw.httpVersionMajor)
        const fault = hostFault(request.raw)
        if (fault !== undefined) throw fault
      }
      if (!url.startsWith('/') || url.includes('#')) {
        throw badRequest('the request target must be a path with an optional query')
      }
      const info = infoOf(request, { method: request.method, path: path === '' ? '/' : path, query: search, ownPath })
      const wholeInfo = selectors ? withSelectors(info, search) : info
      request.orch = new Context(wholeInfo, { search, naming, auditId, received }, reply.raw)
    } catch (error) {
      const info = pathRequest(path, request.method.toLowerCase())
      request.orch = new Context(info, { search, naming, auditId, received }, reply.raw)
      return done(error as Error) // only StatusErrors are thrown
    }
    reply.header('audit-id', auditId)
    done()
  })
}, { name: 'orch/request-info', fastify: '5.x', decorators: { fastify: ['orchClock'] } })
