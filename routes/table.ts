/**
 * The routes of the API, for all types: these come and go while the server runs. Request info reads the parameters by
 * name. `/api/*` and `/apis/*` take the rest: names longer than the router's `maxParamLength`, methods and depths
 * that only proxied paths and extension servers have.
 */
import type { FastifyInstance, HTTPMethods, RouteHandlerMethod } from 'fastify'

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const ALL_METHODS: readonly HTTPMethods[] = [...METHODS, 'HEAD', 'OPTIONS']

/** Collections and objects. A namespace object is in its own namespace. */
const OBJECTS = [
  '/:resource', '/:resource/:name',
  '/namespaces/:name', '/namespaces/:namespace/:resource', '/namespaces/:namespace/:resource/:name'
]
const SUBRESOURCES = ['/:resource/:name/:subresource', '/namespaces/:namespace/:resource/:name/:subresource']
/** In other groups than the core these are resources in the namespace. */
const OF_NAMESPACE = ['/namespaces/:name/status', '/namespaces/:name/finalize']
const PROXIED = [
  '/nodes/:name/proxy/*', '/namespaces/:namespace/pods/:name/proxy/*', '/namespaces/:namespace/services/:name/proxy/*'
]

const CORE = '/api/:version'
const GROUPS = '/apis/:group/:version'
const below = (root: string, paths: readonly string[]): string[] => paths.map(path => root + path)

const TABLE: ReadonlyArray<readonly [methods: readonly HTTPMethods[], urls: readonly string[]]> = [
  [METHODS, below(CORE, [...OBJECTS, ...SUBRESOURCES, ...OF_NAMESPACE])],
  [METHODS, below(GROUPS, [...OBJECTS, ...SUBRESOURCES])],
  [['GET'], [...below(`${CORE}/watch`, OBJECTS), ...below(`${GROUPS}/watch`, OBJECTS)]], // deprecated
  [ALL_METHODS, [...below(CORE, PROXIED), '/api/*', '/apis/*']]
]

export function apiRoutes (fastify: FastifyInstance, handler: RouteHandlerMethod): void {
  for (const [methods, urls] of TABLE) {
    for (const url of urls) fastify.route({ method: [...methods], url, exposeHeadRoute: false, handler })
  }
}
