/** VolumeAttributesClass: what may be changed of a volume that is in use. */
import { age, name, text } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { resource } from '../../resource.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'

export const volumeAttributesClasses = resource(v1.VolumeAttributesClass, {
  plural: 'volumeattributesclasses',
  singular: 'volumeattributesclass',
  shortNames: ['vac'],
  namespaced: false,
  deleteReturns: 'Object',
  gate: 'VolumeAttributesClass',
  columns: [name, text('DriverName', 'CSI driver of the volumes.', ({ driverName }) => driverName), age],
  others: [{
    ...sameFields(v1beta1.VolumeAttributesClass, v1.VolumeAttributesClass),
    deprecation: { deprecated: '1.34', removed: '1.37', replacement: 'storage.orch.io/v1 VolumeAttributesClass' }
  }]
})
