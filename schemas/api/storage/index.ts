/** The resources of storage.orch.io: where volumes come from. */
import { csiDrivers } from './csidrivers.js'
import { csiNodes } from './csinodes.js'
import { csiStorageCapacities } from './csistoragecapacities.js'
import { storageClasses } from './storageclasses.js'
import { volumeAttachments } from './volumeattachments.js'

export const storage = [csiDrivers, csiNodes, csiStorageCapacities, storageClasses, volumeAttachments]
