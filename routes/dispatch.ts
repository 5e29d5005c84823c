/**
 * Serves URLs without a route of their own: custom types, which change at run time, group versions of extension servers, the deprecated
 * `/watch/` paths, HEAD and OPTIONS, names longer than the router's `maxParamLength`, and with `api.sharedRoutes` everything.
 */
import type { FastifyInstance } from 'fastify'
import { methodNotAllowed } from '../schemas/status.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { extensionServerHandler, type Handler } from './handlers.js'

export interface DispatchOptions { readonly handlerOf: (store: ResourceStore) => Handler }

export default async function dispatch (fastify: FastifyInstance, { handlerOf }: DispatchOptions): Promise<void> {
  const { resources } = fastify.orch
  const proxyToExtensionServer = extensionServerHandler(fastify)
  const handle: Handler = (request, reply) => {
    const { info } = request.orch
    const store = info.isResourceRequest && info.deeper === undefined ? resources.lookup(info) : undefined
    return store === undefined ? proxyToExtensionServer(request, reply) : handlerOf(store)(request, reply)
  }
  /** HEAD and OPTIONS are valid only for proxied paths. */
  const handleProxied: Handler = (request, reply) => {
    const { info } = request.orch
    if (info.rest !== undefined) return handle(request, reply)
    if (fastify.orch.knowsPath(info)) throw methodNotAllowed()
    return proxyToExtensionServer(request, reply)
  }
  for (const url of ['/api/:version/watch/*', '/apis/:group/:version/watch/*']) fastify.route({ method: 'GET', url, exposeHeadRoute: false, handler: handle })
  for (const url of ['/api/*', '/apis/*']) {
    fastify.route({ method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], url, exposeHeadRoute: false, handler: handle })
    fastify.route({ method: ['HEAD', 'OPTIONS'], url, exposeHeadRoute: false, handler: handleProxied })
  }
}
