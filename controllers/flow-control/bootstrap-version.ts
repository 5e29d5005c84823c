import { isServed } from '../../schemas/resource.js'
import type { ResourceStore } from '../../registry/resource-store.js'

/** Upstream writes the newest version, which managedFields record. */
const BOOTSTRAP_VERSIONS = ['v1', 'v1beta2']

export function inBootstrapVersion (store: ResourceStore): ResourceStore {
  const served = store.type.representations.filter(representation => isServed(representation, store.gates))
  const representation = BOOTSTRAP_VERSIONS.map(name => served.find(({ version }) => version === name))
    .find(candidate => candidate !== undefined)
  return representation === undefined ? store : store.forVersion(representation)
}
