/**
 * The routes of one served resource. Each is a separate plugin, so that `fastify.printRoutes()` shows the API and `request.routeOptions.url` names the route.
 * All resources share the routes of the deprecated `/watch/` paths (`dispatch.ts`): separate ones would be 150 of 376 routes and a quarter of their start-up
 * cost.
 *
 * @see interface, 'Resource URIs'
 */
import fp from 'fastify-plugin'
import type { FastifyPluginCallback, HTTPMethods } from 'fastify'
import type { ResourceStore } from '../registry/resource-store.js'
import { isServed } from '../schemas/resource.js'
import type { Handler } from './handlers.js'

const METHODS: Readonly<Record<string, HTTPMethods>> = { get: 'GET', list: 'GET', watch: 'GET', create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE', deletecollection: 'DELETE' }

export function resourceRoutes ({ representation, gates, type: { namespaced, virtual } }: ResourceStore, handler: Handler): FastifyPluginCallback {
  const { group, version, plural, verbs, subresources } = representation
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const all = `/${plural}`
  const collection = namespaced ? `/namespaces/:namespace/${plural}` : all
  const object = `${collection}/:name`

  return fp((fastify, _options, done) => {
    const serve = (url: string, served: readonly string[]): void => {
      const method = [...new Set(served.map(verb => METHODS[verb] as HTTPMethods))] // every verb of a representation has a method
      if (method.length > 0) fastify.route({ method, url: root + url, exposeHeadRoute: false, handler })
    }
    const supported = (...candidates: string[]): string[] => candidates.filter(verb => (verbs as readonly string[]).includes(verb))

    if (namespaced) serve(all, virtual ? supported('list', 'create') : supported('list', 'watch'))
    serve(collection, supported('list', 'watch', 'create', 'deletecollection'))
    serve(object, supported('get', 'update', 'patch', 'delete'))
    for (const subresource of subresources) {
      if (!isServed(subresource, gates)) continue
      const { name, verbs } = subresource
      serve(`${object}/${name}`, verbs)
      if (name === 'proxy') serve(`${object}/${name}/*`, verbs)
    }
    done()
  }, { name: `orch/routes/${plural}.${version}.${group}` })
}
