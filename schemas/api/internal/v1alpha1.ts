/** The public types of internal.apiserver.orch.io/v1alpha1. */
export {
  ServerStorageVersion, StorageVersion, StorageVersionCondition, StorageVersionSpec, StorageVersionStatus
} from './storageversions.js'
