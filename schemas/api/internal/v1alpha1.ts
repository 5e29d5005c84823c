/** The types of internal.apiserver.orch.io/v1alpha1, for those who use them elsewhere. */
export { ServerStorageVersion, StorageVersion, StorageVersionCondition, StorageVersionSpec, StorageVersionStatus } from './storageversions.js'
