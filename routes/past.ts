/** Who may read the past of a namespace. */
import type { FastifyRequest } from 'fastify'
import { resourceRequest } from '../auth/request-info.js'
import { isOfFormer, type MayReadFrom } from '../registry/operations/former-namespace.js'
import type { ResourceStore } from '../registry/resource-store.js'

/**
 * For a list or watch within a namespace, or of one; undefined for others. Who may list in all namespaces may read what
 * former ones had.
 */
export function mayReadFrom (request: FastifyRequest, store: ResourceStore): MayReadFrom | undefined {
  const { info, query } = request.orch
  const namespaces = request.server.orch.resources.find('', 'namespaces')
  const name = store.type.namespaced ? info.namespace : info.group === '' && info.resource === 'namespaces' ? info.name : ''
  if (query.size === 0 || name === '' || namespaces === undefined) return undefined
  return async revision => !await isOfFormer(namespaces, name, store, revision) || await mayListAll(request, store)
}

async function mayListAll ({ server, orch: { user } }: FastifyRequest, { representation: { group, version, plural } }: ResourceStore): Promise<boolean> {
  if (user === undefined) return false
  const { decision } = await server.orch.authorizer.authorize({ user, info: resourceRequest({ verb: 'list', group, version, resource: plural }) })
  return decision === 'Allow'
}
