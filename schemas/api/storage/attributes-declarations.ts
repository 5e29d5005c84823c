/** VolumeAttributesClass, for both versions of storage.orch.io. */
import { apiPackage, map, string } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { validateAttributesClass, validateAttributesClassUpdate } from './rules/storageclasses.js'

/** The message of one version. */
export function declare (version: 'v1' | 'v1beta1') {
  const { kind } = apiPackage('storage.orch.io', version, `io.orch.api.storage.${version}`)

  const VolumeAttributesClass = kind('VolumeAttributesClass', 'Attributes that a volume has and may change later.', {
    metadata,
    driverName: string(2, 'Name of the CSI driver of the volumes.', { required: true, immutable: 'ruled' }),
    parameters: map(3, 'Attributes, as the driver knows them.', 'string', { keepsEmpty: true, immutable: 'ruled' })
  }, {
    validate: (object, _at, report) => { validateAttributesClass(object, report) },
    validateUpdate: (object, old, _at, report) => { validateAttributesClassUpdate(object, old, report) }
  })

  return { VolumeAttributesClass }
}
