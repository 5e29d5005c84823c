/** Registers the API: resources, discovery, OpenAPI and the keys of the issuer. Plugins register health, metrics and debugging. */
import type { FastifyInstance } from 'fastify'
import { representations, types } from '../schemas/index.js'
import discovery from './discovery.js'
import dispatch from './dispatch.js'
import { resourceHandlers } from './handlers.js'
import issuerDiscovery from './issuer-discovery.js'
import openapi from './openapi.js'
import { resourceRoutes } from './resource.js'

export default async function routes (fastify: FastifyInstance): Promise<void> {
  const { resources, settings } = fastify.orch
  const handlerOf = resourceHandlers(fastify)
  for (const type of types) resources.add(type)
  for (const representation of representations) {
    const { apiVersion, plural } = representation
    if (settings.disabledApis.has(apiVersion) || settings.disabledApis.has(`${apiVersion}/${plural}`)) continue
    const store = resources.serve(representation)
    if (!settings.sharedRoutes) fastify.register(resourceRoutes(store, handlerOf(store)))
  }
  await fastify.register(discovery)
  await fastify.register(issuerDiscovery)
  await fastify.register(openapi)
  await fastify.register(dispatch, { handlerOf })
}
