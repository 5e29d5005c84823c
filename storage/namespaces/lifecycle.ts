/**
 * NamespaceLifecycle: nothing is created in a namespace that is missing or going, and the
 * namespaces the cluster itself stands on are not deleted. (An admission plugin of the default set.)
 */
import { forbidden, notFound, StatusError } from '../../schemas/status.js'
import type { AdmissionPlugin, AdmissionRequest } from '../admission.js'
import { current } from '../operations/rewrite.js'
import type { ResourceRegistry } from '../registry.js'

const IMMORTAL = new Set(['default', 'orch-system', 'orch-public'])
const NAMESPACES = { group: '', resource: 'namespaces' }

export function namespaceLifecycle (resources: () => ResourceRegistry): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    handles: ({ operation, namespace, group, resource, subresource }) =>
      group === '' && resource === 'namespaces' ? operation === 'DELETE' && subresource === '' : operation === 'CREATE' && namespace !== '',
    async validate (request) {
      if (request.operation === 'DELETE') return refuseImmortal(request)
      const store = resources().find('', 'namespaces')
      if (store === undefined) return
      const found = await current(store, store.key('', request.namespace))
      if (found === undefined) throw notFound(NAMESPACES, request.namespace)
      if (found.object.metadata.deletionTimestamp !== undefined) throw terminating(request)
    }
  }
}

function refuseImmortal ({ name }: AdmissionRequest): void {
  if (IMMORTAL.has(name)) throw forbidden(NAMESPACES, name, 'this namespace may not be deleted')
}

function terminating ({ group, resource, name, namespace }: AdmissionRequest): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  const refused = forbidden({ group, resource }, name, why)
  refused.status.details = { ...refused.status.details, causes: [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }] }
  return refused
}
