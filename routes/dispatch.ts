/**
 * The way in for URLs that no resource has a route for: types defined at run time, which come and go while the server runs, the deprecated
 * `/watch/` forms, HEAD and OPTIONS, and names longer than the router of a host takes as a parameter (`maxParamLength`).
 */
import type { FastifyInstance } from 'fastify'
import { methodNotAllowed, noSuchPath } from '../schemas/status.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { Handler } from './handlers.js'

export interface DispatchOptions { readonly handlerOf: (store: ResourceStore) => Handler }

export default async function dispatch (fastify: FastifyInstance, { handlerOf }: DispatchOptions): Promise<void> {
  const { resources } = fastify.orch
  const known = new WeakMap<ResourceStore, Handler>()
  const handle: Handler = (request, reply) => {
    const { info } = request.orch
    const store = info.isResourceRequest ? resources.lookup(info) : undefined
    if (store === undefined) throw noSuchPath()
    let handler = known.get(store)
    if (handler === undefined) known.set(store, handler = handlerOf(store))
    return handler(request, reply)
  }
  /** What is proxied is asked with these too; nothing of ours is. */
  const handleProxied: Handler = (request, reply) => {
    const { info } = request.orch
    if (info.rest === undefined) throw fastify.orch.knowsPath(info) ? methodNotAllowed() : noSuchPath()
    return handle(request, reply)
  }
  for (const url of ['/api/:version/watch/*', '/apis/:group/:version/watch/*']) fastify.route({ method: 'GET', url, exposeHeadRoute: false, handler: handle })
  for (const url of ['/api/*', '/apis/*']) {
    fastify.route({ method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], url, exposeHeadRoute: false, handler: handle })
    fastify.route({ method: ['HEAD', 'OPTIONS'], url, exposeHeadRoute: false, handler: handleProxied })
  }
}
