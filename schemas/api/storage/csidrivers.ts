/** CSIDriver (v1): properties of a storage driver. */
import { age, flag, join, name, NONE, text, UNSET, type Column } from '../../columns.js'
import { int64, one, bool, string, list, type Static } from '../../language/declare.js'
import { sameValue } from '../../language/values.js'
import { metadata, nextGeneration } from '../../meta/object.js'
import { resource } from '../../resource.js'
import { validateDriverSpec, validateDriverUpdate } from './rules/csi.js'
import { kind, message } from './package.js'
import { warnedLater } from '../../rules/warned.js'

export type TokenRequest = Static<typeof TokenRequest>
export const TokenRequest = message('TokenRequest', 'A token that is made for a CSI driver.', {
  audience: string(1, 'Who the token is meant for; empty for the API server.', { required: true, mayBeEmpty: true }),
  expirationSeconds: int64(2, 'Seconds the token is valid.', { pointer: true })
})

export type CSIDriverSpec = Static<typeof CSIDriverSpec>
export const CSIDriverSpec = message('CSIDriverSpec', 'How a CSI driver is to be used.', {
  attachRequired: bool(1, 'Whether volumes must be attached before they are mounted; by default true.', {
    pointer: true, immutable: 'ruled', default: true
  }),
  podInfoOnMount: bool(2, 'Whether the driver learns of the pod when it mounts.', {
    pointer: true, immutable: 'ruled', default: false
  }),
  volumeLifecycleModes: list(3, 'Kinds of volume the driver supports: Persistent, Ephemeral or both.', 'string', {
    immutable: 'ruled', values: ['Persistent', 'Ephemeral'], listType: 'set',
    gate: { name: 'CSIInlineVolume', default: ['Persistent'] }
  }),
  storageCapacity: bool(4, 'Whether pods are scheduled by the storage capacity the driver reports.', {
    pointer: true, default: false
  }),
  fsGroupPolicy: string(5, 'Whether ownership of volumes is changed: ReadWriteOnceWithFSType, File or None.', {
    pointer: true, immutable: 'ruled', values: ['ReadWriteOnceWithFSType', 'File', 'None'],
    default: 'ReadWriteOnceWithFSType'
  }),
  tokenRequests: list(
    6, 'Service account tokens of the pod that the driver needs.', TokenRequest, { listType: 'atomic' }
  ),
  requiresRepublish: bool(7, 'Whether the driver is called from time to time to remount volumes.', {
    pointer: true, default: false
  }),
  seLinuxMount: bool(8, 'Whether volumes can be mounted with an SELinux context.', {
    pointer: true, gate: { name: 'SELinuxMountReadWriteOncePod', given: false }, since: '1.25'
  }),
  nodeAllocatableUpdatePeriodSeconds: int64(9, 'Seconds between updates of what a node can attach; at least 10.', {
    pointer: true, gate: 'MutableCSINodeAllocatableCount', since: '1.33'
  }),
  serviceAccountTokenInSecrets: bool(10, 'Whether tokens are passed among the secrets instead of the context.', {
    pointer: true, gate: 'CSIServiceAccountTokenSecrets', since: '1.35'
  }),
  preventPodSchedulingIfMissing: bool(11, 'Whether pods stay away from nodes without the driver.', {
    pointer: true, gate: { name: 'VolumeLimitScaling', given: false }, since: '1.36'
  })
}, {
  defaults: spec => { if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent'] },
  validate: (spec, at, report) => { validateDriverSpec(spec, at, report) },
  validateUpdate: (spec, old, at, report) => { validateDriverUpdate(spec, old, at, report) }
})

export type CSIDriver = Static<typeof CSIDriver>
export const CSIDriver = kind('CSIDriver', 'A CSI driver that is installed in the cluster.', {
  metadata,
  spec: one(2, 'How the driver is to be used.', CSIDriverSpec, { required: true })
})

const columns: ReadonlyArray<Column<CSIDriver>> = [
  name,
  flag('AttachRequired', 'Whether volumes must be attached before they are mounted.', ({ spec }) =>
    spec.attachRequired ?? true),
  flag('PodInfoOnMount', 'Whether the driver learns of the pod.', ({ spec }) => spec.podInfoOnMount),
  flag('StorageCapacity', 'Whether pods are scheduled by the capacity it reports.', ({ spec }) => spec.storageCapacity),
  text('TokenRequests', 'Whom the tokens that it needs are meant for.', ({ spec }) =>
    spec.tokenRequests === undefined ? UNSET : join(spec.tokenRequests.map(({ audience }) => audience))),
  flag('RequiresRepublish', 'Whether it is called from time to time to remount volumes.', ({ spec }) =>
    spec.requiresRepublish),
  text('Modes', 'Kinds of volume it supports.', ({ spec }) => join(spec.volumeLifecycleModes) || NONE),
  age
]

const counted = ({ spec: { tokenRequests, requiresRepublish, seLinuxMount } }: CSIDriver): unknown =>
  [tokenRequests, requiresRepublish, seLinuxMount]

const driverWarnings = warnedLater<CSIDriver>(({ spec }, old, warn) => {
  if ((spec.tokenRequests ?? []).length === 0 || spec.serviceAccountTokenInSecrets !== undefined) return
  if (old !== undefined && sameValue(spec.tokenRequests, old.spec.tokenRequests)) return
  warn('spec.serviceAccountTokenInSecrets: tokens of tokenRequests are passed with the attributes of volumes, where ' +
    'logs may show them; true passes them as secrets')
})

export const csiDrivers = resource(CSIDriver, {
  plural: 'csidrivers',
  notOnUpdate: ['generateName'],
  namespaced: false,
  unconditionalUpdate: false,
  deleteReturns: 'Object',
  // The generation is unset until the first change of these fields.
  strategy: {
    prepareForUpdate: (driver, old) => {
      if (!sameValue(counted(driver), counted(old))) driver.metadata.generation = nextGeneration(old)
    },
    warnings: driverWarnings
  },
  columns
})
