/**
 * NamespaceLifecycle: nothing is created in a namespace that is missing or going, and the
 * namespaces the cluster itself stands on are not deleted. (An admission plugin of the default set.)
 *
 * It is said before anything else is: plugins that look for something in the namespace, and the rules of objects, are not asked
 * where there is none. And what it judged by has to be so when the object is written, not just when it was looked at: whoever
 * empties a namespace must be sure that nothing comes after what is found there.
 */
import { forbidden, notFound } from '../../schemas/status.js'
import type { StatusError } from '../../schemas/status.js'
import type { AdmissionPlugin, AdmissionRequest } from '../../registry/admission.js'
import { current } from '../../registry/operations/rewrite.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { refusal } from '../refusal.js'

const IMMORTAL = new Set(['default', 'orch-system', 'orch-public'])
const NAMESPACES = { group: '', resource: 'namespaces' }

export function namespaceLifecycle (resources: () => ResourceRegistry): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    handles: ({ operation, namespace, group, resource, subresource }) =>
      group === '' && resource === 'namespaces' ? operation === 'DELETE' && subresource === '' : operation === 'CREATE' && namespace !== '' && !isReview(group, resource),
    async mutate (request) {
      if (request.operation === 'DELETE') return refuseImmortal(request)
      const found = await request.reader.get('', 'namespaces', '', request.namespace)
      if (found === undefined) throw notFound(NAMESPACES, request.namespace)
      if (found.metadata.deletionTimestamp !== undefined) throw terminating(request)
    },
    async validate (request) {
      if (request.operation === 'DELETE') return
      const store = resources().find('', 'namespaces')
      if (store === undefined) return
      const key = store.key('', request.namespace)
      const found = await current(store, key)
      if (found === undefined) throw notFound(NAMESPACES, request.namespace)
      const { uid, deletionTimestamp } = found.object.metadata
      if (deletionTimestamp !== undefined) throw terminating(request)
      request.precondition?.({
        backend: store.backend,
        key,
        revision: found.revision,
        holds: async () => {
          const { uid: later, deletionTimestamp: going } = (await current(store, key))?.object.metadata ?? {}
          return later === uid && going === undefined
        }
      })
    }
  }
}

/** What may be done in a namespace is told of one that is not there, too: else who may ask nothing else would learn that it is. */
const isReview = (group: string, resource: string): boolean => group === 'authorization.orch.io' && resource === 'localsubjectaccessreviews'

/** One that can't be read, and so is not shown here, may go: the next start makes it anew. */
function refuseImmortal ({ name, oldObject }: AdmissionRequest): void {
  if (oldObject !== undefined && IMMORTAL.has(name)) throw forbidden(NAMESPACES, name, 'this namespace may not be deleted')
}

function terminating (request: AdmissionRequest): StatusError {
  const { namespace } = request
  const refused = refusal(request, `unable to create new content in namespace ${namespace} because it is being terminated`)
  refused.status.details = { ...refused.status.details, causes: [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }] }
  return refused
}
