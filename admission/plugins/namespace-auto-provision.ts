/**
 * NamespaceAutoProvision: creates a missing namespace when an object is created in it, except in dry runs. (Off by
 * default.)
 */
import type { Namespace } from '../../schemas/api/core/namespaces.js'
import { isStatusError } from '../../schemas/status.js'
import { serverContext } from '../../registry/write-context.js'
import { create } from '../../registry/verbs/create.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { AdmissionPlugin } from '../../registry/admission.js'

export const namespaceAutoProvision = (resources: ResourceRegistry): AdmissionPlugin => ({
  name: 'NamespaceAutoProvision',
  handles: ({ operation, namespace, group, resource, dryRun }) => operation === 'CREATE' && namespace !== '' &&
    !dryRun && !(group === '' && resource === 'namespaces'),
  mutate: async ({ namespace, reader, signal }) => {
    const store = resources.find('', 'namespaces')
    if (store === undefined || await reader.get('', 'namespaces', '', namespace) !== undefined) return
    const object: Namespace = {
      kind: 'Namespace', apiVersion: 'v1', metadata: { name: namespace }, spec: {}, status: {}
    }
    await create(store, object, { namespace: '', name: '' }, serverContext(signal)).catch((error: unknown) => {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    })
  }
})
