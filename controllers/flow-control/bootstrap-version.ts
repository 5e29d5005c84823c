import type { ResourceStore } from '../../registry/resource-store.js'

/** Upstream writes this version, which managedFields record. */
const BOOTSTRAP_VERSION = 'v1beta2'

export function inBootstrapVersion (store: ResourceStore): ResourceStore {
  const representation = store.type.representations.find(({ version }) => version === BOOTSTRAP_VERSION)
  return representation === undefined ? store : store.forVersion(representation)
}
