import type { Namespace } from '../../../schemas/core/namespace.js'
import { prepareNamespaceForCreate, prepareNamespaceForUpdate } from '../../../schemas/core/namespace.js'
import { namespaces } from '../../../schemas/resources.js'
import { strategy } from '../../../storage/strategy.js'
import { resourceRoutes } from '../../resource.js'

/** A namespace is held by its spec.finalizers beside those of its metadata: until it is empty. */
export default resourceRoutes(namespaces, strategy<Namespace>({
  prepareForCreate: prepareNamespaceForCreate,
  prepareForUpdate: prepareNamespaceForUpdate,
  held: ({ spec }) => (spec.finalizers ?? []).length > 0,
  beginDelete: namespace => { namespace.status = { ...namespace.status, phase: 'Terminating' } }
}))
