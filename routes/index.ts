/**
 * Registers the API: resources, discovery, OpenAPI and the keys of the issuer. Plugins register health, metrics and
 * debugging.
 */
import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import { representations, types } from '../schemas/resources.js'
import discovery from './discovery.js'
import { dispatcher } from './dispatch.js'
import issuerDiscovery from './issuer-discovery.js'
import openapi from './openapi.js'
import { apiRoutes } from './table.js'

async function routes (fastify: FastifyInstance): Promise<void> {
  const { orchResources: resources, orchSettings: { disabledApis, featureGates } } = fastify
  for (const type of types) resources.add(type)
  for (const representation of representations) {
    const { apiVersion, plural, gate } = representation
    if (disabledApis.has(apiVersion) || disabledApis.has(`${apiVersion}/${plural}`)) continue
    if (gate === undefined || featureGates.enabled(gate)) resources.serve(representation)
  }
  apiRoutes(fastify, dispatcher(fastify))
  await fastify.register(discovery)
  await fastify.register(issuerDiscovery)
  await fastify.register(openapi)
}

export default fp(routes, {
  name: 'orch/routes',
  fastify: '5.x',
  encapsulate: true,
  decorators: {
    fastify: [
      'orchAggregation', 'orchAuthentication', 'orchAuthorization', 'orchClock', 'orchConnections', 'orchHealth',
      'orchMetrics', 'orchResources', 'orchSettings', 'orchShutdown', 'orchSlowRequests', 'orchUnderWay'
    ],
    request: ['orch']
  }
})
