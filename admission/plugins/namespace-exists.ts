/** NamespaceExists: refuses writes in missing namespaces. (Off by default: NamespaceLifecycle covers it.) */
import { notFound } from '../../schemas/status.js'
import type { AdmissionPlugin } from '../../registry/admission.js'

export const namespaceExists: AdmissionPlugin = {
  name: 'NamespaceExists',
  handles: ({ operation, namespace, group, resource }) => operation !== 'CONNECT' && namespace !== '' &&
    !(group === '' && resource === 'namespaces'),
  validate: async ({ namespace, reader }) => {
    if (await reader.get('', 'namespaces', '', namespace) === undefined) {
      throw notFound({ group: '', resource: 'namespaces' }, namespace)
    }
  }
}
