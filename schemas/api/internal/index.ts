/** The resources of internal.apiserver.orch.io. */
import { storageVersions } from './storageversions.js'

export const internal = [storageVersions]
