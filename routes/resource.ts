/**
 * The URLs of one served resource, made from its representation. A plugin of its own for each, so that `fastify.printRoutes()` shows the
 * API and `request.routeOptions.url` names the route. The deprecated `/watch/` forms have two routes for all resources (`dispatch.ts`): one for
 * each resource would be 150 of 376 routes, and a quarter of what all of them cost a start.
 *
 * @see interface, 'Resource URIs'
 */
import fp from 'fastify-plugin'
import type { FastifyPluginCallback, HTTPMethods } from 'fastify'
import type { ResourceStore } from '../registry/resource-store.js'
import type { Handler } from './handlers.js'

const METHODS: Readonly<Record<string, HTTPMethods>> = { get: 'GET', list: 'GET', watch: 'GET', create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE', deletecollection: 'DELETE' }

export function resourceRoutes ({ representation, type: { namespaced, virtual } }: ResourceStore, handler: Handler): FastifyPluginCallback {
  const { group, version, plural, verbs, subresources } = representation
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const all = `/${plural}`
  const collection = namespaced ? `/namespaces/:namespace/${plural}` : all
  const object = `${collection}/:name`

  return fp((fastify, _options, done) => {
    const serve = (url: string, served: readonly string[]): void => {
      const method = [...new Set(served.map(verb => METHODS[verb] as HTTPMethods))] // each verb of a representation has one
      if (method.length > 0) fastify.route({ method, url: root + url, exposeHeadRoute: false, handler })
    }
    const among = (...wanted: string[]): string[] => wanted.filter(verb => (verbs as readonly string[]).includes(verb))

    if (namespaced) serve(all, virtual ? among('list', 'create') : among('list', 'watch'))
    serve(collection, among('list', 'watch', 'create', 'deletecollection'))
    serve(object, among('get', 'update', 'patch', 'delete'))
    for (const { name, verbs } of subresources) {
      serve(`${object}/${name}`, verbs)
      if (name === 'proxy') serve(`${object}/${name}/*`, verbs)
    }
    done()
  }, { name: `orch/routes/${plural}.${version}.${group}` })
}
