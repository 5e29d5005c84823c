/** CSIStorageCapacity and VolumeAttributesClass of storage.orch.io/v1beta1. */
import type { Static } from '../../language/declare.js'
import { declare as declareAttributes } from './attributes-declarations.js'
import { declare } from './capacity-declarations.js'

export const API_VERSION = 'storage.orch.io/v1beta1'

export const { CSIStorageCapacity } = declare('v1beta1')
export const { VolumeAttributesClass } = declareAttributes('v1beta1')

export type CSIStorageCapacity = Static<typeof CSIStorageCapacity>
export type VolumeAttributesClass = Static<typeof VolumeAttributesClass>
