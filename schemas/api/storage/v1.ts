/** What storage.orch.io/v1 has. */
import type { Static } from '../../language/declare.js'
import { declare as declareAttributes } from './attributes-declarations.js'
import { declare } from './capacity-declarations.js'

export const API_VERSION = 'storage.orch.io/v1'

export const { CSIStorageCapacity } = declare('v1')
export const { VolumeAttributesClass } = declareAttributes('v1')

export type CSIStorageCapacity = Static<typeof CSIStorageCapacity>
export type VolumeAttributesClass = Static<typeof VolumeAttributesClass>

export { CSIDriver, CSIDriverSpec, TokenRequest } from './csidrivers.js'
export { CSINode, CSINodeDriver, CSINodeSpec, VolumeNodeResources } from './csinodes.js'
export { StorageClass } from './storageclasses.js'
export {
  VolumeAttachment, VolumeAttachmentSource, VolumeAttachmentSpec, VolumeAttachmentStatus, VolumeError
} from './volumeattachments.js'
