/**
 * NamespaceLifecycle: refuses creates in missing or terminating namespaces, and deletions of system namespaces.
 * (Enabled by default.)
 *
 * It checks before mutation, so that other plugins and validation can rely on the namespace, and again at the write,
 * with the namespace as precondition: the namespace controller must be sure that nothing is created after it found the
 * namespace empty.
 */
import { notFound, forbidden, type StatusError } from '../../schemas/status.js'
import type { AdmissionPlugin, AdmissionRequest } from '../../registry/admission.js'
import { current } from '../../registry/current.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { refusal } from '../refusal.js'

const PROTECTED = new Set(['default', 'orch-system', 'orch-public'])
const NAMESPACES = { group: '', resource: 'namespaces' }

export function namespaceLifecycle (resources: ResourceRegistry): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    handles: ({ operation, namespace, group, resource, subresource }) =>
      group === '' && resource === 'namespaces'
        ? operation === 'DELETE' && subresource === ''
        : operation === 'CREATE' && namespace !== '' && !isReview(group, resource),
    async mutate (request) {
      if (request.operation === 'DELETE') return refuseProtected(request)
      const object = await request.reader.get('', 'namespaces', '', request.namespace)
      if (object === undefined) throw notFound(NAMESPACES, request.namespace)
      if (object.metadata.deletionTimestamp !== undefined) throw terminating(request)
    },
    async validate (request) {
      if (request.operation === 'DELETE') return undefined
      const store = resources.find('', 'namespaces')
      if (store === undefined) return undefined
      const key = store.keys.of('', request.namespace)
      const entry = await current(store, key)
      if (entry === undefined) throw notFound(NAMESPACES, request.namespace)
      const { uid, deletionTimestamp } = entry.object.metadata
      if (deletionTimestamp !== undefined) throw terminating(request)
      return {
        backend: store.backend,
        key,
        revision: entry.revision,
        holds: async () => {
          const { uid: currentUid, deletionTimestamp: currentDeletion } =
            (await current(store, key))?.object.metadata ?? {}
          return currentUid === uid && currentDeletion === undefined
        }
      }
    }
  }
}

/**
 * Local access reviews work in missing namespaces too, so that users without other permissions cannot learn which
 * namespaces exist.
 */
const isReview = (group: string, resource: string): boolean => group === 'authorization.orch.io' &&
  resource === 'localsubjectaccessreviews'

/** A damaged namespace, without oldObject, may be deleted; the next start recreates it. */
function refuseProtected ({ name, oldObject }: AdmissionRequest): void {
  if (oldObject !== undefined && PROTECTED.has(name)) {
    throw forbidden(NAMESPACES, name, 'this namespace may not be deleted')
  }
}

function terminating (request: AdmissionRequest): StatusError {
  const { namespace } = request
  const refused = refusal(
    request, `unable to create new content in namespace ${namespace} because it is being terminated`
  )
  refused.status.details = {
    ...refused.status.details, causes: [{
      reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace'
    }]
  }
  return refused
}
