import type { ResourceStore } from '../../registry/resource-store.js'

/** Upstream writes this version, which managedFields record. */
const WRITTEN_VERSION = 'v1beta2'

export function inWrittenVersion (store: ResourceStore): ResourceStore {
  const representation = store.type.representations.find(({ version }) => version === WRITTEN_VERSION)
  return representation === undefined ? store : store.forVersion(representation)
}
