/** PersistentVolume (v1): storage of the cluster. */
import { map, one, inline, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { NodeSelector } from './affinity.js'
import { PersistentVolumeSource } from './persistent-sources.js'
import { ObjectReference } from './references.js'
import { volumeColumns } from './volume-columns.js'
import { Quantity, roundToMilli } from '../../meta/quantity.js'
import { Time } from '../../meta/scalars.js'
import { timestamp } from '../../meta/time.js'
import type { Gates } from '../../gates.js'
import { resource } from '../../resource.js'
import { refuseAlone, validateVolumeSpec, validateVolumeUpdate } from './rules/persistentvolumes.js'
import { kind, message } from './package.js'
import { volumeWarnings } from './rules/object-warnings.js'

export type VolumeNodeAffinity = Static<typeof VolumeNodeAffinity>
export const VolumeNodeAffinity = message('VolumeNodeAffinity', 'Nodes from which a volume can be reached.', {
  required: one(1, 'What a node must fulfil to reach the volume.', NodeSelector, { pointer: true })
})

export type PersistentVolumeSpec = Static<typeof PersistentVolumeSpec>
export const PersistentVolumeSpec = message('PersistentVolumeSpec', 'A piece of storage and how it may be used.', {
  capacity: map(1, 'Resources of the volume, by resource name.', Quantity),
  persistentVolumeSource: inline(2, 'What the volume is made of.', PersistentVolumeSource, { immutable: 'ruled' }),
  accessModes: list(3, 'Ways the volume can be mounted, such as ReadWriteOnce.', 'string', {
    values: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'], closed: 'ruled'
  }),
  claimRef: one(4, 'Claim the volume is bound to.', ObjectReference, {
    pointer: true, structType: { since: '1.25', becomes: 'granular' }
  }),
  persistentVolumeReclaimPolicy: string(5, 'What happens when the claim is deleted: Retain, Delete or Recycle.', {
    values: ['Recycle', 'Delete', 'Retain'], closed: true
  }),
  storageClassName: string(6, 'Storage class of the volume; empty for none.'),
  mountOptions: list(7, 'Mount options, such as ro or soft; not checked beforehand.', 'string'),
  volumeMode: string(8, 'Whether it is a Filesystem or a raw Block device.', {
    pointer: true, immutable: 'ruled', values: ['Block', 'Filesystem'], closed: true
  }),
  nodeAffinity: one(9, 'Nodes from which the volume can be reached.', VolumeNodeAffinity, {
    pointer: true, immutable: 'ruled'
  }),
  volumeAttributesClassName: string(10, 'Class of attributes that the volume has; for CSI only.', {
    pointer: true, gate: 'VolumeAttributesClass', since: '1.29'
  })
}, { defaults: ({ capacity }) => { roundToMilli(capacity) } })

export type PersistentVolumeStatus = Static<typeof PersistentVolumeStatus>
export const PersistentVolumeStatus = message('PersistentVolumeStatus', 'What is observed of a persistent volume.', {
  phase: string(1, 'Where the volume stands: Pending, Available, Bound, Released or Failed.', {
    values: ['Pending', 'Available', 'Bound', 'Released', 'Failed'], closed: 'ruled', default: 'Pending'
  }),
  message: string(2, 'Why the volume is in this phase, for a person.'),
  reason: string(3, 'Why the volume failed, in one word.'),
  lastPhaseTransitionTime: one(4, 'When the volume got to this phase.', Time, { pointer: true, since: '1.28' })
})

export type PersistentVolume = Static<typeof PersistentVolume>
export const PersistentVolume = kind('PersistentVolume', 'A piece of storage in the cluster.', {
  metadata,
  spec: one(2, 'The storage and how it may be used.', PersistentVolumeSpec, { ruled: true }),
  status: one(3, 'What is observed of the volume; written by the system.', PersistentVolumeStatus)
}, {
  // Not for inline volumes of VolumeAttachments, which have the same spec.
  defaults: ({ spec }) => {
    spec.persistentVolumeReclaimPolicy ??= 'Retain'
    spec.volumeMode ??= 'Filesystem'
  },
  validate: ({ metadata, spec }, _at, report) => { validateVolumeSpec(spec, metadata.name ?? '', 'spec', report) },
  validateCreate: ({ spec }, _at, report) => { refuseAlone(spec.accessModes, [], report) },
  validateUpdate: ({ spec }, { spec: old }, _at, report) => {
    validateVolumeUpdate(spec, old, report)
    refuseAlone(spec.accessModes, old.accessModes, report)
  }
})

/** Notes when the phase changes; writers that leave the time out keep it. @param now milliseconds; default the clock */
function noteTransition (
  { status }: PersistentVolume, old: PersistentVolume | undefined, gates: Gates, now = Date.now()
): void {
  if (!gates.enabled('PersistentVolumeLastPhaseTransitionTime')) return
  if (old === undefined) {
    status.phase ??= 'Pending'
    status.lastPhaseTransitionTime = timestamp(now)
    return
  }
  const { lastPhaseTransitionTime: before } = old.status
  if (old.status.phase === status.phase) {
    if (before !== undefined) status.lastPhaseTransitionTime ??= before
  } else if (status.lastPhaseTransitionTime === undefined || status.lastPhaseTransitionTime === before) {
    status.lastPhaseTransitionTime = timestamp(now)
  }
}

export const persistentVolumes = resource(PersistentVolume, {
  plural: 'persistentvolumes',
  shortNames: ['pv'],
  namespaced: false,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'] }
  ],
  deleteReturns: 'Object',
  strategy: {
    prepareForCreate: (volume, _user, gates) => { noteTransition(volume, undefined, gates) },
    prepareForUpdate: (volume, old, _subresource, gates, now) => { noteTransition(volume, old, gates, now) },
    warnings: volumeWarnings
  },
  columns: volumeColumns
})
