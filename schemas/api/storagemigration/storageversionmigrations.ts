/** StorageVersionMigration (v1beta1): objects of a resource that a controller writes again, in the form of today. */
import { name, text } from '../../columns.js'
import { apiPackage, list, one, string, type Static } from '../../language/declare.js'
import { Condition } from '../../meta/answers.js'
import { GroupResource } from '../../meta/discovery.js'
import { metadata } from '../../meta/object.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import { resource } from '../../resource.js'
import { validateMigration, validateMigrationStatus } from './rules/storageversionmigrations.js'

const { kind, message } = apiPackage('storagemigration.orch.io', 'v1beta1', 'io.orch.api.storagemigration.v1beta1')

export type StorageVersionMigrationSpec = Static<typeof StorageVersionMigrationSpec>
export const StorageVersionMigrationSpec = message('StorageVersionMigrationSpec', 'What is written again.', {
  resource: one(1, 'The resource, in plural.', GroupResource, { required: true, ruled: true })
}, { validate: ({ resource }, at, report) => { validateMigration(resource, `${at}.resource`, report) } })

export type StorageVersionMigrationStatus = Static<typeof StorageVersionMigrationStatus>
export const StorageVersionMigrationStatus = message('StorageVersionMigrationStatus', 'How far it has come.', {
  conditions: list(1, 'Whether it is Running, has Succeeded or has Failed.', Condition, {
    listType: 'map', listMapKeys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type'
  }),
  resourceVersion: string(2, 'Objects of earlier versions are written again; set once.', { immutable: 'ruled' })
})

export type StorageVersionMigration = Static<typeof StorageVersionMigration>
export const StorageVersionMigration = kind('StorageVersionMigration', 'Objects that are written again.', {
  metadata,
  spec: one(2, 'What is written again; does not change.', StorageVersionMigrationSpec, { immutable: true }),
  status: one(3, 'How far it has come.', StorageVersionMigrationStatus)
})

const STATES = ['Running', 'Failed', 'Succeeded']
const stateOf = ({ status: { conditions = [] } }: StorageVersionMigration): string =>
  STATES.findLast(state => conditions.some(({ type, status }) => type === state && status === 'True')) ?? 'Unknown'

export const storageVersionMigrations = resource(StorageVersionMigration, {
  plural: 'storageversionmigrations',
  singular: 'storageversionmigration',
  namespaced: false,
  gate: 'StorageVersionMigrator',
  unconditionalUpdate: false,
  subresources: [{
    name: 'status',
    verbs: ['get', 'patch', 'update'],
    changes: ['status'],
    keepsMetadata: OWN_METADATA,
    validateUpdate: (object, old, report) => {
      // of this resource
      const [now, before] = [object as StorageVersionMigration, old as StorageVersionMigration]
      validateMigrationStatus(now.status, before.status, report)
    }
  }],
  columns: [
    { ...name, format: '' },
    text('Resource', 'What is written again.', ({ spec: { resource: { group, resource } } }) => `${resource}.${group}`),
    text('Status', 'How far it has come.', stateOf)
  ]
})
