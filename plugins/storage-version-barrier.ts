/**
 * Answers writes of a type with 503 until this server has published in which version it stores the type (feature gate
 * StorageVersionAPI). Runs after authorization, as upstream. The exceptions are upstream's: StorageVersions themselves,
 * namespaces that a server creates, and leases in the namespace of the system.
 */
import { served, type RequestContext } from '../answers/request-context.js'
import type { RequestInfo } from '../auth/request-info.js'
import { storageVersions as ownType } from '../schemas/api/internal/storageversions.js'
import { serviceUnavailable, type StatusError } from '../schemas/status.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import { reasonOf } from '../storage/errors.js'
import { isAdministrator } from './shared/request-kinds.js'
import { plugin, type Having } from './shared/plugin.js'

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/** True for reads, and for writes that a cluster needs to start. */
export function passes (
  { isResourceRequest, verb, group, resource, namespace }: RequestInfo, user: UserInfo | undefined
): boolean {
  if (!isResourceRequest || READS.has(verb)) return true
  if (group === ownType.group && resource === ownType.plural) return true
  if (group === 'coordination.orch.io' && resource === 'leases' && namespace === 'orch-system') return true
  return group === '' && resource === 'namespaces' && verb === 'create' && user?.username === 'system:apiserver' &&
    isAdministrator(user)
}

type Barred = Having<'orchResources' | 'orchStorageVersions'>

/** Why a request has to wait; undefined if it need not. */
export function barrierOf (
  { orchStorageVersions: storageVersions, orchResources: resources }: Barred,
  { info, user }: Pick<RequestContext, 'info' | 'user'>
): StatusError | undefined {
  if (storageVersions === undefined || storageVersions.completed || passes(info, user)) return undefined
  const type = resources.lookup(info)?.type
  if (type === undefined || !storageVersions.pending(type)) return undefined
  const failure = storageVersions.lastFailure(type)
  const name = info.group === '' ? info.resource : `${info.resource}.${info.group}`
  return serviceUnavailable(`wait for storage version registration to complete for resource: ${name}, last seen ` +
    `error: ${failure === undefined ? 'none' : reasonOf(failure)}`)
}

export default plugin()(async (fastify: Barred) => {
  if (fastify.orchStorageVersions === undefined) return
  fastify.addHook('onRequest', (request, _reply, done) => { done(barrierOf(fastify, served(request).orch)) })
}, {
  name: 'orch/storage-version-barrier',
  fastify: '5.x',
  dependencies: ['orch/authorization'],
  decorators: { fastify: ['orchResources', 'orchStorageVersions'], request: ['orch'] }
})
