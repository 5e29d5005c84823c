import t from 'tap'
import { creates, served, updates } from '../rules.js'

const versions = served('internal.apiserver.orch.io/v1alpha1', 'storageversions')
const NAMED = { metadata: { name: 'apps.deployments' } }
creates(t, versions, NAMED, [
  ['a name without a group', { metadata: { name: 'deployments' } }, 'Invalid metadata.name'],
  ['a group and a resource that are none', { metadata: { name: 'A_.B_' } }, 'Invalid metadata.name'],
  ['a group of several labels', { metadata: { name: 'example.com.things' } }],
  ['what servers tell is told of the status alone', { status: { commonEncodingVersion: 'v1' } }]
])

const server = (apiServerID: string, encodingVersion = 'v1', ...decodableVersions: string[]) => ({
  apiServerID, encodingVersion, decodableVersions: [encodingVersion, ...decodableVersions]
})
const status = (commonEncodingVersion: string | undefined, ...storageVersions: object[]) => ({
  status: { storageVersions, ...commonEncodingVersion === undefined ? {} : { commonEncodingVersion } }
})
const condition = {
  type: 'AllEncodingVersionsEqual', status: 'True', reason: 'CommonEncodingVersionSet', message: 'all agree'
}
const COMMON = 'status.commonEncodingVersion'
updates(t, versions, NAMED, [
  ['servers that agree', {}, status('v1', server('a'), server('b', 'v1', 'v2'))],
  ['versions of a group', {}, status('apps/v1', server('a', 'apps/v1', 'apps/v1beta1'))],
  [
    'of none, and of too many',
    {},
    status('/v1', server('a', '/v1', 'a/b/c')),
    ...['encodingVersion', 'decodableVersions[0]', 'decodableVersions[1]'].map(field =>
      `Invalid status.storageVersions[0].${field}`)
  ],
  ['servers that do not', {}, status(undefined, server('a'), server('b', 'v2'))],
  ['whose common version is told', {}, status('v1', server('a'), server('b', 'v2')), `Invalid ${COMMON}`],
  ['a common version of nobody', {}, status('v1'), `Invalid ${COMMON}`],
  ['a common version that is not told', {}, status(undefined, server('a')), `Invalid ${COMMON}`],
  ['another one', {}, status('v2', server('a')), `Invalid ${COMMON}`],
  ['a server and versions of bad names', {}, status('V1', server('A', 'V1', 'v_2')),
    'Invalid status.storageVersions[0].apiServerID', 'Invalid status.storageVersions[0].encodingVersion',
    'Invalid status.storageVersions[0].decodableVersions[0]', 'Invalid status.storageVersions[0].decodableVersions[1]'],
  [
    'a server that can not read what it writes', {},
    status('v1', { apiServerID: 'a', encodingVersion: 'v1', decodableVersions: ['v2'] }),
    'Invalid status.storageVersions[0].decodableVersions'
  ],
  ['served versions that it reads, and others', {}, status('v1', {
    ...server('a', 'v1', 'v2'), servedVersions: ['v2', 'v3', 'V1']
  }),
  ...['servedVersions[1]', 'servedVersions[2]'].map(field => `Invalid status.storageVersions[0].${field}`)],
  ['a condition', {}, { status: { conditions: [condition] } }],
  ['the same twice', {}, { status: { conditions: [condition, condition] } }, 'Invalid status[1].type'],
  [
    'a condition of nothing', {}, { status: { conditions: [{}] } },
    ...['type', 'status'].map(field => `Invalid status[0].${field}`), 'Required status[0].reason',
    'Required status[0].message'
  ]
], 'status')
