/** StorageVersion (v1alpha1): the versions in which servers store and read a resource. Not served by default. */
import { age, firstThree, name, text, UNSET, type Column } from '../../columns.js'
import { int64, one, string, list, apiPackage, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import { Time } from '../../meta/scalars.js'
import { resource } from '../../resource.js'
import { storageVersionName, validateStorageVersionStatus } from './rules/storageversions.js'

const { kind, message } = apiPackage('internal.apiserver.orch.io', 'v1alpha1', 'io.orch.api.apiserverinternal.v1alpha1')

export type ServerStorageVersion = Static<typeof ServerStorageVersion>
export const ServerStorageVersion =
  message('ServerStorageVersion', 'Versions in which one API server stores and reads a resource.', {
    apiServerID: string(1, 'ID of the API server.'),
    encodingVersion: string(2, 'Version in which the server stores the resource.'),
    decodableVersions: list(3, 'Versions the server can read from storage.', 'string', { listType: 'set' }),
    servedVersions: list(4, 'Versions the server serves, each of which it can read from storage.', 'string', {
      listType: 'set', since: '1.28'
    })
  })

export type StorageVersionSpec = Static<typeof StorageVersionSpec>
export const StorageVersionSpec = message('StorageVersionSpec', 'Empty, as nothing is configured here.', {

})

export type StorageVersionCondition = Static<typeof StorageVersionCondition>
export const StorageVersionCondition =
  message('StorageVersionCondition', 'A finding about the storage version of a resource.', {
    type: string(1, 'Type of the condition, such as AllEncodingVersionsEqual.', {
      required: true, mayBeEmpty: true, values: ['AllEncodingVersionsEqual']
    }),
    status: string(2, 'Whether it holds: True, False or Unknown.', {
      required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
    }),
    observedGeneration: int64(3, 'Generation the condition was set for.'),
    lastTransitionTime: one(4, 'When status last changed.', Time),
    reason: string(5, 'One word for a machine.', { required: true, mayBeEmpty: true }),
    message: string(6, 'A sentence for a person.')
  })

export type StorageVersionStatus = Static<typeof StorageVersionStatus>
export const StorageVersionStatus =
  message('StorageVersionStatus', 'Versions in which the API servers store a resource.', {
    storageVersions: list(1, 'Versions of each API server.', ServerStorageVersion, {
      listType: 'map', listMapKeys: ['apiServerID']
    }),
    commonEncodingVersion: string(2, 'Version in which all servers store, if it is the same.', { pointer: true }),
    conditions: list(3, 'What was found about the storage version.', StorageVersionCondition, {
      listType: 'map', listMapKeys: ['type']
    })
  }, { validate: (status, at, report) => { validateStorageVersionStatus(status, at, report) } })

export type StorageVersion = Static<typeof StorageVersion>
export const StorageVersion = kind('StorageVersion', 'Versions in which the API servers store a resource.', {
  metadata,
  spec: one(2, 'Always empty, as nothing is configured here.', StorageVersionSpec, { required: true }),
  status: one(3, 'Versions as the API servers report them.', StorageVersionStatus, { required: true })
})

const ofServer = ({ apiServerID = '', encodingVersion = '' }: ServerStorageVersion): string =>
  `${apiServerID}=${encodingVersion}`

const columns: ReadonlyArray<Column<StorageVersion>> = [
  name,
  text('CommonEncodingVersion', 'Version in which all servers store.', ({ status }) =>
    status.commonEncodingVersion ?? UNSET),
  text('StorageVersions', 'Version in which each server stores.', ({ status: { storageVersions = [] } }) =>
    firstThree(storageVersions.map(ofServer), storageVersions.length) || UNSET),
  age
]

export const storageVersions = resource(StorageVersion, {
  plural: 'storageversions',
  notOnUpdate: ['generateName'],
  namespaced: false,
  anyFinalizer: true,
  nameRule: storageVersionName,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], keepsMetadata: OWN_METADATA }
  ],
  unconditionalUpdate: false,
  columns
})
