/** ConfigMap (v1): configuration data. */
import { count, name, age, text } from '../../columns.js'
import { map, type Static } from '../../language/declare.js'
import { byteLengthOfBase64 } from '../../language/values.js'
import { resource } from '../../resource.js'
import { checkImmutable, checkKey, immutableFlag, MAX_SIZE } from './data.js'
import { metadata } from '../../meta/object.js'
import { kind } from './package.js'
import { invalid, tooLong } from '../../rules/findings.js'

export type ConfigMap = Static<typeof ConfigMap>
export const ConfigMap = kind('ConfigMap', 'Data that is no secret, as text or bytes by key.', {
  metadata,
  immutable: immutableFlag(4),
  data: map(2, 'Texts.', 'string', { default: {}, immutable: 'ruled' }),
  binaryData: map(3, 'Bytes; no key of data again.', 'bytes', { keepsEmpty: true, immutable: 'ruled' })
}, {
  validate: (config, at, report) => {
    let size = 0
    for (const [key, value] of Object.entries(config.data ?? {})) {
      checkKey('data', key, report)
      if (config.binaryData !== undefined && Object.hasOwn(config.binaryData, key)) {
        invalid(report, `data[${key}]`, key, 'duplicate of key present in binaryData')
      }
      size += Buffer.byteLength(value)
    }
    for (const [key, value] of Object.entries(config.binaryData ?? {})) {
      checkKey('binaryData', key, report)
      size += byteLengthOfBase64(value)
    }
    // Upstream reports the total size of both maps at the empty path, which it prints as `[]`.
    if (size > MAX_SIZE) tooLong(report, '[]', MAX_SIZE)
  },
  // Unset data equals empty data; for binaryData they differ.
  validateUpdate: (config, old, at, report) => checkImmutable(
    { ...config, data: config.data ?? {} }, { ...old, data: old.data ?? {} }, ['data', 'binaryData'], report
  )
})

export const configMaps = resource(ConfigMap, {
  plural: 'configmaps',
  shortNames: ['cm'],
  namespaced: true,
  columns: [
    name, text<ConfigMap>('Data', 'Number of entries.', ({ data, binaryData }) => count(data) + count(binaryData)), age
  ]
})
