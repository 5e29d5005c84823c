/**
 * Registers the API: resources, discovery, OpenAPI and the keys of the issuer. Plugins register health, metrics and
 * debugging.
 */
import { SINCE } from '../schemas/meta/release.js'
import { isServed } from '../schemas/resource.js'
import { representations, types } from '../schemas/resources.js'
import discovery from './discovery.js'
import { dispatcher } from './dispatch.js'
import issuerDiscovery from './issuer-discovery.js'
import openapi from './openapi.js'
import { apiRoutes } from './table.js'
import { plugin } from '../plugins/shared/plugin.js'
import { NEEDS, type RoutedServer } from './needs.js'

/** A release that can be emulated, or one before it. */
const releaseOf = (release: string | undefined): string | undefined =>
  release !== undefined && SINCE.includes(release) ? release : undefined

async function routes (fastify: RoutedServer): Promise<void> {
  const { orchResources: resources, orchSettings: { disabledApis, laterApis, featureGates } } = fastify
  for (const type of types) resources.add(type)
  for (const representation of representations) {
    const { apiVersion, plural, gate, deprecation: { removed } = {} } = representation
    const isAmong = (apis: ReadonlySet<string>): boolean => apis.has(apiVersion) || apis.has(`${apiVersion}/${plural}`)
    if (isAmong(disabledApis)) continue
    const isOffered = isAmong(laterApis) || isServed({ gate, removed: releaseOf(removed) }, featureGates)
    if (isOffered) resources.serve(representation)
  }
  apiRoutes(fastify, dispatcher(fastify))
  await discovery(fastify)
  await issuerDiscovery(fastify)
  await openapi(fastify)
}

export default plugin()(routes, {
  name: 'orch/routes',
  fastify: '5.x',
  encapsulate: true,
  decorators: { fastify: NEEDS, request: ['orch'] }
})
