/** The public types of storagemigration.orch.io/v1beta1. */
export const API_VERSION = 'storagemigration.orch.io/v1beta1'

export {
  StorageVersionMigration, StorageVersionMigrationSpec, StorageVersionMigrationStatus
} from './storageversionmigrations.js'
